import { resolve } from "node:path";
import type { ErrorProblem } from "../../base/wire/envelope.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { CommandFailure } from "../basics/failures.ts";
import { normalKind } from "../basics/kinds.ts";
import { readDocuments } from "./document.ts";
import type { Entry, ManifestFile } from "./entry.ts";
import { mergeEnvFiles } from "./env-merge.ts";
import { FaultyManifests } from "./faulty.ts";
import { foreignFile } from "./foreign.ts";
import { readBounded, readText } from "../basics/read-bounded.ts";
import { type FileLimits, manifestFiles, resolveWithin } from "./files.ts";
import type { Variables } from "./interpolate.ts";
import { serverFaults } from "./server-faults.ts";
import { type Fault, type Format, formatFaults, placeOf, type Span } from "./source.ts";

export interface ReadSetup {
  cwd: string;
  stdin: () => Promise<string>;
  variables: Variables;
  /** Language of standard input, and of files whose names do not tell; default: YAML. */
  format?: Format | undefined;
  /** Files that manifests name must be in this folder: the manifests are of somebody who may read no others here. */
  within?: string | undefined;
  limits: FileLimits & {
    manifestDepthMax: number;
    manifestNodesMax: number;
    manifestDocumentsMax: number;
    faultsShownMax: number;
  };
}

/** The manifests of one command, in the order in which they were read. */
export interface ManifestSet {
  manifests: Record<string, unknown>[];
  /** Where the paths in each of them start from. */
  directories: string[];
  /** `within` of the reading. */
  within: string | undefined;
  /** How many files they come from. */
  files: number;
  /** `file:line:col` of each, for messages. */
  places: string[];
  /** The problems of a refusal, each with file, line and excerpt where it is in a manifest of the operator. */
  explain(problems: readonly ErrorProblem[]): string;
}

/** Reads every manifest behind the `-f` values. Throws `ManifestError` with all faults at once. */
export async function readManifests(paths: readonly string[], setup: ReadSetup): Promise<ManifestSet> {
  const unread: CommandFailure[] = [];
  const files = await manifestFiles(paths, { ...setup, unread });
  const [first] = unread;
  if (first !== undefined && files.length === 0 && unread.length === 1) throw first;
  return readManifestFiles(
    files,
    setup,
    unread.map(({ message }) => message),
  );
}

/** Like `readManifests`, for texts that are read already; `unread` says what is wrong with others. */
export function readManifestFiles(
  files: readonly ManifestFile[],
  setup: ReadSetup,
  unread: readonly string[] = [],
): ManifestSet {
  const texts = [...unread];
  const faults: Fault[] = [];
  const embedded = new Set<string>();
  const documents = files.map((file) => {
    const own: Fault[] = [];
    // A file that is not a manifest has faults only if nothing embeds it.
    const way = foreignFile(file);
    return {
      file,
      way,
      own,
      entries: way === undefined ? readDocuments(file, documentSetup(setup, embedded), own) : [],
    };
  });
  const entries: Entry[] = [];
  for (const { file, way, own, entries: found } of documents) {
    if (file.isBelow === true && embedded.has(resolve(setup.cwd, file.name))) continue;
    if (way !== undefined) texts.push(`${file.name}: ${way}`);
    entries.push(...found);
    faults.push(...own);
  }
  for (const entry of entries) mergeEnvFiles(entry, envText(setup), faults);
  faults.push(...duplicates(entries));
  const [text] = texts;
  if (text !== undefined && texts.length === 1 && entries.length === 0 && faults.length === 0)
    throw new CommandFailure(text);
  if (faults.length + texts.length > 0) {
    throw new FaultyManifests({ faults, texts, entries }, setup.limits.faultsShownMax);
  }
  if (entries.length === 0) throw new CommandFailure(emptyText(files));
  return {
    manifests: entries.map((entry) => entry.manifest),
    directories: entries.map((entry) => entry.file.directory),
    within: setup.within,
    files: files.length,
    places: entries.map((entry) => placeOf(entry.places.get("kind")?.value ?? nameSpan(entry))),
    explain: (problems) => explain(problems, entries, setup.limits.faultsShownMax),
  };
}

function emptyText(files: readonly ManifestFile[]): string {
  const names = files.map((file) => file.name).join(", ");
  const what = files.every(({ text }) => text.trim() === "") ? "is empty" : "has comments alone";
  return `no manifest in ${names}: ${files.length === 1 ? `the file ${what}` : "they are empty"}; berth init writes a first one`;
}

/** `embedded` gets the files that become part of a manifest. */
function documentSetup({ variables, limits, within }: ReadSetup, embedded: Set<string>) {
  return {
    variables,
    readAsset: (file: ManifestFile, path: string) => {
      embedded.add(resolve(file.directory, path));
      return readBounded(resolveWithin(file.directory, path, within), path, { bytesMax: limits.fileBytesMax });
    },
    depthMax: limits.manifestDepthMax,
    documentsMax: limits.manifestDocumentsMax,
    nodesMax: limits.manifestNodesMax,
  };
}

function envText({ limits, within }: ReadSetup) {
  return (entry: Entry, path: string): string => {
    return readText(resolveWithin(entry.file.directory, path, within), path, { bytesMax: limits.fileBytesMax });
  };
}

function duplicates(entries: readonly Entry[]): Fault[] {
  const seen = new Map<string, Entry>();
  return entries.flatMap((entry) => {
    const identity = identityOf(entry);
    if (identity === undefined) return [];
    const first = seen.get(identity);
    if (first === undefined) {
      seen.set(identity, entry);
      return [];
    }
    return [{ span: nameSpan(entry), message: `${identity} is declared twice: first at ${placeOf(nameSpan(first))}` }];
  });
}

/** `kind/scope/name`; undefined where the server will say what is missing. */
function identityOf({ manifest: { kind, scope, name } }: Entry): string | undefined {
  if (typeof kind !== "string" || typeof name !== "string") return undefined;
  return formatKey({ kind: normalKind(kind), scope: typeof scope === "string" ? scope : "", name });
}

function nameSpan(entry: Entry): Span {
  return entry.places.get("name")?.value ?? { source: entry.file, start: 0, end: 0 };
}

function explain(problems: readonly ErrorProblem[], entries: readonly Entry[], shownMax: number): string {
  const { faults, rest } = serverFaults(problems, entries);
  return [...(faults.length > 0 ? [formatFaults(faults, shownMax)] : []), ...rest].join("\n\n");
}
