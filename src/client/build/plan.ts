import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { sha256Hex } from "../../base/pure/digest.ts";
import { contextDigest, withoutEndSlashes } from "../../base/pure/source-tree.ts";
import { buildId } from "../../orchestration/core/build/build-id.ts";
import { generateDockerfile } from "../../orchestration/core/build/generate.ts";
import { needsBuildkit } from "../../orchestration/core/build/needs-buildkit.ts";
import type { GeneratedBuild } from "../../orchestration/core/build/runtime.ts";
import { sourceTree } from "./place.ts";
import { CommandFailure } from "../basics/failures.ts";
import { readBounded } from "../basics/read-bounded.ts";
import { type FolderLimits, readFolder, type SourceEntry, type SourceFolder } from "./folder.ts";

/** An app that is built from source, as its manifest says it. */
interface BuildSource {
  scope: string;
  name: string;
  /** `build` of the manifest. */
  build: Record<string, unknown>;
  /** Where the paths of the manifest start from. */
  directory: string;
  /** The manifest says what starts. */
  hasCommand?: boolean;
}

/** What is to be built: the folder is read, nothing is sent. */
export interface PlannedBuild {
  scope: string;
  name: string;
  id: string;
  digest: string;
  dockerfile: string;
  target: string | undefined;
  args: Record<string, string>;
  /** Keys of the app's config that steps mount. */
  secrets: string[];
  /** The Dockerfile uses what the classic builder does not have. */
  buildkit: boolean;
  folder: SourceFolder;
  /** Where the folder has no Dockerfile of its own. */
  generated: GeneratedBuild | undefined;
}

const generatedPath = ".berth/Dockerfile";

/** Reads the folder of an app. Fails with what is wrong in the words of the manifest. */
export async function planBuild(source: BuildSource, limits: FolderLimits): Promise<PlannedBuild> {
  const { scope, name, build, directory } = source;
  const fields = fieldsOf(source);
  const root = resolve(directory, fields.context ?? ".");
  if (!isFolder(root)) throw failure(source, `build.context: "${fields.context ?? "."}" is not a folder`);
  const written = fields.dockerfile ?? ownDockerfile(root, fields.path);
  if (fields.dockerfile !== undefined && !existsSync(join(root, fields.dockerfile))) {
    throw failure(source, `build.dockerfile: "${fields.dockerfile}" does not exist in ${root}`);
  }
  // A Dockerfile beside the context is sent along, as docker does.
  const outside = written !== undefined && relative(root, join(root, written)).startsWith("..");
  const inside = outside ? undefined : written;
  const folder = await readFolder(root, inside === undefined ? [] : [inside], limits);
  const generated = written === undefined ? generate(source, { root, fields, limits }) : undefined;
  const made = outside ? textOf(root, written, limits.textBytesMax) : generated?.dockerfile;
  if (made !== undefined) folder.entries.push(textEntry(generatedPath, made));
  const digest = contextDigest(folder.entries);
  const dockerfile = inside ?? generatedPath;
  const { target } = fields;
  const args = argsOf(source, build.args);
  const id = buildId({ context: digest, dockerfile, target, args });
  const secrets = secretKeys(source, build.secrets);
  const buildkit = needsBuildkit(made ?? textOf(root, dockerfile, limits.textBytesMax));
  return { scope, name, id, digest, dockerfile, target, args, secrets, buildkit, folder, generated };
}

interface Fields {
  context?: string;
  dockerfile?: string;
  target?: string;
  path?: string;
}

function fieldsOf(source: BuildSource): Fields {
  const fields: Fields = {};
  for (const field of ["context", "dockerfile", "target", "path"] as const) {
    const value = source.build[field];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") throw failure(source, `build.${field}: expected text`);
    fields[field] = value;
  }
  return fields;
}

function argsOf(source: BuildSource, args: unknown): Record<string, string> {
  if (args === undefined || args === null) return {};
  const isMap = typeof args === "object" && !Array.isArray(args);
  const entries = isMap ? Object.entries(args) : [];
  if (!isMap || entries.some(([, value]) => typeof value !== "string")) {
    throw failure(source, "build.args: expected a map of text");
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function secretKeys(source: BuildSource, keys: unknown): string[] {
  if (keys === undefined || keys === null) return [];
  if (Array.isArray(keys) && keys.every((key) => typeof key === "string")) return keys;
  throw failure(source, "build.secrets: expected a list of config keys");
}

function ownDockerfile(root: string, path: string | undefined): string | undefined {
  const places = path === undefined ? ["Dockerfile"] : [`${withoutEndSlashes(path)}/Dockerfile`, "Dockerfile"];
  return places.find((place) => existsSync(join(root, place)));
}

function generate(
  source: BuildSource,
  { root, fields: { path }, limits }: { root: string; fields: Fields; limits: FolderLimits },
): GeneratedBuild {
  const { lang } = source.build;
  const { name, version, entrypoint } = (typeof lang === "object" && lang !== null ? lang : {}) as Record<
    string,
    unknown
  >;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const choice = { name: text(name), version: text(version), entrypoint: text(entrypoint), path };
  const result = generateDockerfile(sourceTree(root, limits), choice);
  if (!result.ok) throw failure(source, result.problem);
  const { build } = result;
  if (build.noStart !== undefined && source.hasCommand !== true) throw failure(source, build.noStart);
  return build;
}

function textOf(root: string, file: string, bytesMax: number): string {
  return new TextDecoder().decode(readBounded(join(root, file), file, { bytesMax }));
}

function textEntry(path: string, text: string): SourceEntry {
  const digest = sha256Hex(text);
  return { path, kind: "file", mode: 0o644, digest, size: Buffer.byteLength(text), target: "", text };
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function failure({ scope, name }: BuildSource, problem: string): CommandFailure {
  return new CommandFailure(`${scope}/${name}: ${problem}`);
}
