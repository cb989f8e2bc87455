import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";
import { parseDocument } from "yaml";
import { isFields } from "../../../base/pure/fields.ts";
import { CommandFailure } from "../../basics/failures.ts";
import { readText } from "../../basics/read-bounded.ts";
import type { ImportedFile, ImportSetup } from "./files.ts";
import { composeOfRun } from "./docker-run.ts";
import { withVariables } from "./erb.ts";
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

/** A command line of `docker run` as a manifest. Throws usage failures. */
export function importDockerRun(text: string, setup: ImportSetup): ImportedFile {
  const told = report();
  const { top, looksUp } = composeOfRun(text, told.lose);
  return finish(top, { ...setup, place: "docker run", project: setup.cwd, told, looksUp });
}

/** A `deploy.yml` of Kamal as manifests. Throws a `CommandFailure`. */
export function importKamal(name: string, setup: ImportSetup): ImportedFile {
  const { cwd, limits } = setup;
  const told = report();
  const text = readText(resolve(cwd, name), name, { bytesMax: limits.fileBytesMax });
  const config = readConfig(withVariables(text, told.lose), name, limits.manifestNodesMax);
  const { top, app } = composeOfKamal(config, told.lose);
  // The file is in config/, and its paths start beside that folder.
  const folder = dirname(resolve(cwd, name));
  const project = basename(folder) === "config" ? dirname(folder) : folder;
  const moved = movedPaths(top, relative(resolve(cwd, setup.base ?? ""), project));
  const scope = setup.scope ?? nameFrom(config.service);
  tellHooks(resolve(project, typeof config.hooks_path === "string" ? config.hooks_path : ".kamal/hooks"), told.lose);
  return finish(moved, { ...setup, scope, place: name, project, told, app });
}

/** Kamal runs these programs on the machine that deploys. Its samples never run. */
function tellHooks(folder: string, lose: Lose): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.includes(".")) : [];
  for (const name of names.toSorted())
    lose("hooks", `"${name}" does not run: for a command before each version write release, for a message a webhook`);
}

function readConfig(text: string, name: string, nodesMax: number): Record<string, unknown> & { service: string } {
  const document = parseDocument(text, { merge: true, logLevel: "silent" });
  try {
    const config = document.errors.length > 0 ? undefined : plainOf(document, nodesMax);
    if (isFields(config) && typeof config.service === "string") return { ...config, service: config.service };
  } catch (error) {
    throw new CommandFailure(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
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
