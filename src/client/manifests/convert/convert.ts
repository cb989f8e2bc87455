import type { ErrorProblem } from "../../../base/wire/envelope.ts";
import { normalKind } from "../../basics/kinds.ts";
import { type DocumentSetup, readDocuments } from "../document.ts";
import type { Entry, ManifestFile } from "../entry.ts";
import { formatHcl } from "../hcl/format.ts";
import { serverFaults } from "../server-faults.ts";
import { type Fault, ManifestError } from "../source.ts";
import { calculations } from "./calculations.ts";
import { type Comments, commentsOf } from "./comments.ts";
import { writeHcl } from "./hcl.ts";
import { commentLine } from "./words.ts";
import { writeYaml } from "./yaml.ts";
import { isFields, own } from "../../../base/pure/fields.ts";

interface Difference {
  path: string;
  /** Both as short text. */
  before: string;
  after: string;
}

/** Where two plain values differ first; undefined where they are the same. The order of fields does not count. */
function firstDifference(before: unknown, after: unknown, path: string): Difference | undefined {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return firstOf(before.keys(), (index) => firstDifference(before[index], after[index], `${path}[${index}]`));
  }
  if (isFields(before) && isFields(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return firstOf(names.values(), (name) => {
      const [one, other] = [own(before, name), own(after, name)];
      return firstDifference(one, other, path === "" ? name : `${path}.${name}`);
    });
  }
  if (Object.is(before, after) || (before === 0 && after === 0)) return undefined;
  return { path, before: shown(before), after: shown(after) };
}

function firstOf<Key>(keys: Iterable<Key>, find: (key: Key) => Difference | undefined): Difference | undefined {
  for (const key of keys) {
    const found = find(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

const shownMax = 40;

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

export type Target = "hcl" | "yaml";

interface ConvertLimits {
  manifestDepthMax: number;

  manifestNodesMax: number;
  faultsShownMax: number;
}

/**
 * The manifests of files in another language. Variables, references, embedded files and comments stay; anchors are
 * written out. The result is read again and compared: what would mean something else is a fault. Throws `ManifestError`.
 */
export function convertFiles(files: readonly ManifestFile[], to: Target, limits: ConvertLimits): string {
  const faults: Fault[] = [];
  const texts = files.map((file) => convertFile(file, to, { limits, faults }));
  if (faults.length > 0) throw new ManifestError(faults, limits.faultsShownMax);
  return texts.filter((text) => text !== "").join(to === "yaml" ? "---\n" : "\n");
}

interface Progress {
  limits: ConvertLimits;
  faults: Fault[];
}

function convertFile(file: ManifestFile, to: Target, { limits, faults }: Progress): string {
  const known = faults.length;
  if (file.format === "hcl" && to !== "hcl") faults.push(...calculations(file, limits.manifestDepthMax));
  if (faults.length > known) return "";
  const entries = readDocuments(file, setupOf("kept", limits), faults);
  if (faults.length > known) return "";
  const { of: comments, foot } = commentsOf(file, entries);
  const texts = entries.map((entry, index) => {
    return writeOne({ entry, comments: comments[index] as Comments, to, faults });
  });
  if (faults.length > known) return "";
  const text = writeManifests(texts, foot, to, file.name);
  compare(file, { name: file.name, text, directory: file.directory, format: to }, { limits, faults });
  return text;
}

function setupOf(variables: DocumentSetup["variables"], limits: ConvertLimits): DocumentSetup {
  return {
    variables,
    // What is in the files does not matter, only which they are.
    readAsset: (_, path) => Buffer.from(path),
    depthMax: limits.manifestDepthMax,

    nodesMax: limits.manifestNodesMax,
  };
}

interface Writing {
  entry: Entry;
  comments: Comments;
  to: Target;
  faults: Fault[];
}

function writeOne({ entry, comments, to, faults }: Writing): string {
  const problems: ErrorProblem[] = [];
  const writable = {
    manifest: entry.manifest,
    comments,
    refuse: (path: string, message: string) => problems.push({ manifest: 1, path, message }),
  };
  const text = to === "hcl" ? writeHcl(writable) : writeYaml(writable);
  faults.push(...serverFaults(problems, [entry]).faults);
  return text;
}

/** Manifests as one file of a language. */
export function writeManifests(texts: readonly string[], foot: readonly string[], to: Target, name: string): string {
  const last = foot.map((line) => `${commentLine(line)}\n`).join("");
  if (to === "yaml") return texts.join("---\n") + last;
  const joined = [...texts, ...(last === "" ? [] : [last])].join("\n");
  const faults: Fault[] = [];
  const text = formatHcl({ name, text: joined }, Number.POSITIVE_INFINITY, faults);
  if (text === undefined) throw new Error(`HCL that cannot be read was written: ${faults[0]?.message}`);
  return text;
}

/** Both are read as an apply reads them: with variables that are set, and with variables that are empty. */
function compare(before: ManifestFile, after: ManifestFile, { limits, faults }: Progress): void {
  for (const valueFor of [(name: string) => `value of ${name}`, () => ""]) {
    const variables = new Proxy<Record<string, string>>({}, { get: (_, name) => valueFor(String(name)) });
    const setup = setupOf(variables, limits);
    const own: Fault[] = [];
    const again: Fault[] = [];
    const first = readDocuments(before, setup, own);
    const second = readDocuments(after, setup, again);
    if (own.length > 0) faults.push(...own);
    else if (again.length > 0) throw new Error(`what was written cannot be read: ${again[0]?.message}`);
    else faults.push(...differences(first, second));
    if (faults.length > 0) return;
  }
}

function differences(before: readonly Entry[], after: readonly Entry[]): Fault[] {
  return before.flatMap((entry, index) => {
    const [one, other] = [meaningOf(entry), meaningOf(after[index])];
    const found = firstDifference(one, other, "");
    if (found === undefined) return [];
    const message = `would be read as ${found.after} after the conversion, and is ${found.before} here: correct it first`;
    return serverFaults([{ manifest: 1, path: found.path, message }], [entry]).faults;
  });
}

/** A manifest without what may be spelled in several ways, and without what the server writes. */
function meaningOf(entry: Entry | undefined): Record<string, unknown> {
  const { kind, scope = "", spec = {}, metadata: _, ...more } = entry?.manifest ?? {};
  return { ...more, kind: typeof kind === "string" ? normalKind(kind) : kind, scope, spec: spec ?? {} };
}
