import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { parseDocument } from "yaml";
import { isFields } from "../../../base/pure/fields.ts";
import { CommandFailure } from "../../basics/failures.ts";
import { readText } from "../../basics/read-bounded.ts";
import type { ImportedFile, ImportSetup } from "./files.ts";
import { composeOfRun } from "./docker-run.ts";
import { importCompose } from "./import.ts";
import { composeOfKamal } from "./kamal.ts";
import type { Lose } from "./lose.ts";
import { machineAt } from "./machine.ts";
import { plainOf } from "./parse.ts";
import { movedPaths } from "./places.ts";
import { refusals } from "./refusals.ts";
import { report } from "./report.ts";
import { nameFrom } from "./text.ts";
import { writtenManifests } from "./written.ts";
import { keptReference } from "../kept.ts";

const quoted = `["']([^"']*)["']`;
/** `ENV["NAME"] || "default"` */
const indexed = new RegExp(`^ENV\\[${quoted}\\](?:\\s*\\|\\|\\s*${quoted})?$`);
/** `ENV.fetch("NAME", "default")`, or with the default in a block. */
const fetched = new RegExp(
  `^ENV\\.fetch\\(?\\s*${quoted}(?:\\s*,\\s*${quoted})?\\s*\\)?(?:\\s*\\{\\s*${quoted}\\s*\\})?$`,
);

/** A file with Ruby in it, where every value of the environment is a variable (`kept.ts`). Kamal reads its files that way. */
function withVariables(text: string, lose: Lose): string {
  return text.replaceAll(/<%(=?)-?([\s\S]*?)-?%>/g, (whole, prints: string, written: string) => {
    const ruby = written.trim();
    if (prints === "" || ruby.startsWith("#")) {
      if (ruby !== "" && !ruby.startsWith("#") && !/^require\b/.test(ruby))
        lose(whole, "is Ruby: write what it does into the file");
      return "";
    }
    const [, name, ...defaults] = indexed.exec(ruby) ?? fetched.exec(ruby) ?? [];
    if (name !== undefined && /^[A-Za-z_]\w*$/.test(name)) {
      const fallback = defaults.find((one) => one !== undefined);
      return keptReference(fallback === undefined ? name : `${name}:-${fallback}`);
    }
    lose(whole, "is Ruby: write its value into the file");
    return "";
  });
}

type Fields = Record<string, unknown>;

/** A command line of `docker run` as a manifest. Throws usage failures. */
export function importDockerRun(text: string, setup: ImportSetup): ImportedFile {
  const told = report();
  const { top, looksUp } = composeOfRun(text, told.lose);
  return finish(top, { ...setup, place: "docker run", project: setup.cwd, told, looksUp });
}

/**
 * A `deploy.yml` of Kamal as manifests, with the file of a destination over it, such as `deploy.staging.yml`. Throws a
 * `CommandFailure`.
 */
export function importKamal(name: string, destination: string | undefined, setup: ImportSetup): ImportedFile {
  const { cwd, limits } = setup;
  const told = report();
  const read = (file: string) => {
    const text = readText(resolve(cwd, file), file, { bytesMax: limits.fileBytesMax });
    return readConfig(withVariables(text, told.lose), file, limits.manifestNodesMax);
  };
  const own = destination === undefined ? {} : read(name.replace(/(\.ya?ml)?$/, `.${destination}$1`));
  const config = requireService(merged(read(name), own), name);
  if (destination === undefined) tellDestinations(resolve(cwd, name), config, told.lose);
  const { top, app } = composeOfKamal(config, told.lose);
  // The file is in config/, and its paths start beside that folder.
  const folder = dirname(resolve(cwd, name));
  const project = basename(folder) === "config" ? dirname(folder) : folder;
  const moved = movedPaths(top, relative(resolve(cwd, setup.base ?? ""), project));
  // Kamal names the containers of a destination after it too, so that several fit on one server.
  const scope = setup.scope ?? nameFrom([config.service, destination].filter(Boolean).join("-"));
  tellHooks(resolve(project, typeof config.hooks_path === "string" ? config.hooks_path : ".kamal/hooks"), told.lose);
  return finish(moved, { ...setup, scope, place: name, project, told, app });
}

/** Kamal runs these programs on the machine that deploys. Its samples never run. */
function tellHooks(folder: string, lose: Lose): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.includes(".")) : [];
  for (const name of names.toSorted())
    lose("hooks", `"${name}" does not run: for a command before each version write release, for a message a webhook`);
}

/** Names the destinations beside the file, whose settings are not read. */
function tellDestinations(path: string, { require_destination: isNeeded }: Fields, lose: Lose): void {
  const start = `${basename(path).replace(/\.ya?ml$/, "")}.`;
  const names = readdirSync(dirname(path)).flatMap((file) => {
    const [, name] = file.startsWith(start) ? (/^([\w-]+)\.ya?ml$/.exec(file.slice(start.length)) ?? []) : [];
    return name ?? [];
  });
  if (names.length === 0) return;
  const message = `"${names.toSorted().join('", "')}" has settings of its own: import them with --destination`;
  lose("destination", message, isNeeded === true ? undefined : "note");
}

/** Maps are merged at every depth, and anything else takes the place of what was there. */
function merged(base: Fields, over: Fields): Fields {
  const changed = Object.entries(over).map(([key, value]): [string, unknown] => {
    const before = base[key];
    return [key, isFields(before) && isFields(value) ? merged(before, value) : value];
  });
  return { ...base, ...Object.fromEntries(changed) };
}

function readConfig(text: string, name: string, nodesMax: number): Fields {
  const document = parseDocument(text, { merge: true, logLevel: "silent" });
  try {
    const config = document.errors.length > 0 ? undefined : plainOf(document, nodesMax);
    if (isFields(config)) return config;
    if (config === null) return {};
  } catch (error) {
    throw new CommandFailure(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CommandFailure(`${name}: this is not a file of Kamal: it has no service`);
}

function requireService(config: Fields, name: string): Fields & { service: string } {
  const { service } = config;
  if (typeof service === "string") return { ...config, service };
  throw new CommandFailure(`${name}: this is not a file of Kamal: it has no service`);
}

interface Finishing extends ImportSetup {
  place: string;
  project: string;
  told: ReturnType<typeof report>;
  app?: { name: string; spec: Record<string, unknown> } | undefined;
  looksUp?: boolean;
}

function finish(top: Record<string, unknown>, setup: Finishing): ImportedFile {
  const { cwd, place, project, told, limits, variables, app, looksUp } = setup;
  const manifests = importCompose(top, {
    scope: setup.scope,
    suffix: variables.BERTH_PREFIX ?? "berth",
    folder: basename(project),
    machine: machineAt(resolve(cwd, setup.base ?? ""), project, limits),
    known: { values: {}, shell: variables, complete: false },
    profiles: [],
    looksUp,
    lose: told.lose,
  });
  const led = manifests.map((manifest) => {
    if (app === undefined || manifest.name !== app.name || !isFields(manifest.spec)) return manifest;
    return {
      ...manifest,
      kind: app.spec.host === undefined && app.spec.hosts === undefined ? "deployment" : "app",
      spec: { ...manifest.spec, ...app.spec, ports: [app.spec.ports, manifest.spec.ports ?? []].flat() },
    };
  });
  const differences = told.read([]).map((one) => ({ ...one, place }));
  return {
    ...writtenManifests(led, setup.to, place),
    losses: [...differences, ...refusals(led, setup.validation, place)],
  };
}
