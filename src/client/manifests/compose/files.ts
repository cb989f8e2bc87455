import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve } from "node:path";
import type { ValidationLimits } from "../../../orchestration/core/rules/rule.ts";
import { CommandFailure } from "../../basics/failures.ts";
import { readText } from "../../basics/read-bounded.ts";
import type { Target } from "../convert/convert.ts";
import type { FileLimits } from "../files.ts";
import type { Variables } from "../interpolate.ts";
import { type Fault, ManifestError, type Source } from "../source.ts";
import { importCompose } from "./import.ts";
import { loadCompose } from "./load.ts";
import { type FolderLimits, machineAt } from "./machine.ts";
import { type Difference, report } from "./report.ts";
import { projectVariables } from "./project-variables.ts";
import { refusals } from "./refusals.ts";
import { writtenManifests } from "./written.ts";

export interface ImportSetup {
  cwd: string;
  stdin: () => Promise<string>;
  variables: Variables;
  scope: string | undefined;
  to: Target;
  /** Files of `--env-file`, in place of `.env`. */
  envFiles: readonly string[];
  profiles: readonly string[];
  /** Folder where the manifests will be, from which their paths start; default: the working directory. */
  base: string | undefined;
  limits: FileLimits & FolderLimits & { faultsShownMax: number; manifestNodesMax: number };
  validation: ValidationLimits;
}

export interface ImportedFile {
  text: string;
  /** How many manifests there are. */
  manifests: number;
  /** What is different here. */
  losses: Difference[];
  /** Variables without a default: an apply needs them. */
  variables: string[];
}

/** As Compose looks for them. */
const names = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

/** Compose files, or those of the folder, as manifests. Throws `ManifestError` and `CommandFailure`. */
export async function importComposeFiles(written: readonly string[], setup: ImportSetup): Promise<ImportedFile> {
  const { cwd, limits } = setup;
  const [first = ""] = written.length > 0 ? written : found(cwd, setup.variables.COMPOSE_FILE);
  const project = first === "-" ? cwd : dirname(resolve(cwd, first));
  const base = resolve(cwd, setup.base ?? "");
  const faults: Fault[] = [];
  const known = projectVariables(project, setup);
  const files = written.length > 0 ? written : found(cwd, setup.variables.COMPOSE_FILE ?? known.values.COMPOSE_FILE);
  const sources = await Promise.all(
    files.map(async (name) => (name === "-" ? { name: "stdin", text: await setup.stdin() } : read(name, cwd, limits))),
  );
  // What files name starts where the manifests are read, as do all paths afterwards.
  const other = (name: string): Source => {
    const full = resolve(base, name);
    return {
      name: relativeName(base, full),
      text: readText(full, relativeName(cwd, full), { bytesMax: limits.fileBytesMax }),
    };
  };
  const named = sources.map(({ name, text }) =>
    name === "stdin" ? { name, text } : { name: relativeName(base, resolve(cwd, name)), text },
  );
  const loaded = loadCompose(named, relative(base, project), {
    read: other,
    nodesMax: limits.manifestNodesMax,
    faults,
  });
  if (loaded === undefined) throw new ManifestError(faults, limits.faultsShownMax);
  const { lose, read: differences } = report();
  const manifests = importCompose(loaded.top, {
    scope: setup.scope,
    folder: basename(project),
    suffix: setup.variables.BERTH_PREFIX ?? "berth",
    machine: machineAt(base, project, limits),
    known,
    profiles: profilesOf(setup, known.values),
    shared: loaded.shared,
    lose,
  });
  if (manifests.length === 0) throw new CommandFailure(`${files.join(", ")}: there is no service in it`);
  const place = named[0]?.name ?? "";
  return {
    ...writtenManifests(manifests, setup.to, place),
    losses: [...differences(loaded.files), ...refusals(manifests, setup.validation, place)],
  };
}

/** The file of the folder and the one beside it that Compose reads too, or what a variable names. */
function found(cwd: string, variable: string | undefined): string[] {
  if (variable !== undefined && variable !== "") return variable.split(":");
  const name = names.find((one) => existsSync(join(cwd, one)));
  if (name === undefined) {
    const others = readdirSync(cwd).filter((file) => /compose.*\.ya?ml$/.test(file));
    const hint = others.length === 0 ? "" : `; name one: berth import compose ${others.sort().join(", ")}`;
    throw new CommandFailure(`no Compose file in this folder: looked for ${names.join(", ")}${hint}`);
  }
  const [stem = "", ending = ""] = [name.replace(/\.ya?ml$/, ""), name];
  const over = [...new Set([ending.slice(stem.length), ".yaml", ".yml"])].map((end) => `${stem}.override${end}`);
  const override = over.find((one) => existsSync(join(cwd, one)));
  return override === undefined ? [name] : [name, override];
}

function read(name: string, cwd: string, limits: FileLimits): Source {
  return { name, text: readText(resolve(cwd, name), name, { bytesMax: limits.fileBytesMax }) };
}

function relativeName(folder: string, path: string): string {
  return posix.normalize(relative(folder, path));
}

function profilesOf({ profiles, variables }: ImportSetup, values: Readonly<Record<string, string>>): string[] {
  const named = variables.COMPOSE_PROFILES ?? values.COMPOSE_PROFILES ?? "";
  return [...profiles, ...named.split(",").filter((name) => name !== "")];
}
