import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ValidationLimits } from "../../../orchestration/core/rules/rule.ts";
import { CommandFailure } from "../../shell/failures.ts";
import { checkManifests } from "../check.ts";
import { noComments } from "../convert/comments.ts";
import { type Target, writeManifests } from "../convert/convert.ts";
import { writeHcl } from "../convert/hcl.ts";
import { writeYaml } from "../convert/yaml.ts";
import { readText } from "../../shell/read-bounded.ts";
import type { FileLimits } from "../files.ts";
import { type Fault, ManifestError, placeOf, type Source } from "../source.ts";
import { importCompose } from "./import.ts";
import { sampleOf } from "./sample.ts";
import type { LookAt } from "./volumes.ts";

interface ImportFileSetup {
  cwd: string;
  stdin: () => Promise<string>;
  scope: string | undefined;
  to: Target;
  limits: FileLimits & { faultsShownMax: number };
  validation: ValidationLimits;
}

export interface ImportedFile {
  text: string;
  /** How many manifests there are. */
  manifests: number;
  /** What does not carry over, each with `file:line:col`. */
  losses: { place: string; path: string; message: string }[];
}

/** As Compose looks for it. */
const names = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];

/** A Compose file, or that of the folder, as manifests. Throws `ManifestError` and `CommandFailure`. */
export async function importComposeFile(written: string | undefined, setup: ImportFileSetup): Promise<ImportedFile> {
  const name = written ?? names.find((one) => existsSync(join(setup.cwd, one)));
  if (name === undefined) throw new CommandFailure(`no Compose file in this folder: looked for ${names.join(", ")}`);
  const source = await sourceOf(name, setup);
  const directory = name === "-" ? setup.cwd : dirname(resolve(setup.cwd, name));
  const faults: Fault[] = [];
  const { scope, to } = setup;
  const folder = basename(directory);
  const { manifests, losses } = importCompose(source, { scope, folder, lookAt: lookIn(directory) }, faults);
  if (faults.length > 0) throw new ManifestError(faults, setup.limits.faultsShownMax);
  const told = losses.map(({ path, message, start }) => ({
    place: placeOf({ source, start, end: start }),
    path,
    message,
  }));
  const refused: typeof told = [];
  const texts = manifests.map((manifest) => {
    const refuse = (path: string, message: string) =>
      refused.push({ place: source.name, path: at(manifest, path), message });
    const writable = { manifest, comments: noComments, refuse };
    return to === "hcl" ? writeHcl(writable) : writeYaml(writable);
  });
  const [first] = refused;
  if (first !== undefined) throw new CommandFailure(`${first.path}: ${first.message}; import it with --to yaml`);
  const problems = checkManifests(
    manifests.map((manifest) => sampleOf(manifest)),
    setup.validation,
  ).problems.map((problem) => {
    const manifest = manifests[(problem.manifest ?? 1) - 1] ?? {};
    return {
      place: source.name,
      path: at(manifest, problem.path),
      message: `the server will refuse this: ${problem.message}`,
    };
  });
  return {
    text: writeManifests(texts, [], to, source.name),
    manifests: manifests.length,
    losses: [...told, ...problems],
  };
}

function at(manifest: Record<string, unknown>, path: string): string {
  return `${manifest.kind} ${manifest.name}: ${path}`;
}

async function sourceOf(name: string, { cwd, stdin, limits }: ImportFileSetup): Promise<Source> {
  if (name === "-") return { name: "stdin", text: await stdin() };
  return {
    name,
    text: readText(resolve(cwd, name), name, { bytesMax: limits.fileBytesMax }),
  };
}

function lookIn(directory: string): LookAt {
  return (path) => {
    const found = statSync(resolve(directory, path), { throwIfNoEntry: false });
    if (found === undefined) return "absent";
    return found.isFile() ? "file" : "folder";
  };
}
