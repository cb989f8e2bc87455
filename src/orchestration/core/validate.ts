import { isFields } from "../../base/pure/fields.ts";
import { type Place, type Problem, problemsAt } from "../../base/wire/failure.ts";
import type { WritableKind } from "../api/kinds/schemas.ts";
import { formatKey, type Spec } from "../api/manifest.ts";
import type { DraftManifest, PluginBlock } from "./draft.ts";
import { identityProblems, scopeOfBlock } from "./identity.ts";
import { kindList, kindWords, parseKind } from "./kind.ts";
import { safetyProblems } from "../../base/wire/json-safety.ts";
import type { ValidationLimits } from "./rules/rule.ts";
import { isNear, specShapes, specValidators } from "./spec-validators.ts";
import { didYouMeanField } from "../../base/pure/field-words.ts";
import { didYouMean } from "../../base/pure/suggest.ts";

export interface DecodeOptions {
  limits: ValidationLimits;
  /** Whether a plugin expands a block of this kind, or can be got for it. Specs of blocks are theirs to check. */
  isPluginKind?: (kind: string, spec: Spec) => boolean;
  /** Kinds that installed plugins expand, for suggestions. */
  pluginKinds?: () => readonly string[];
  /** Why the plugin of a kind that `isPluginKind` rejects cannot expand it. */
  kindTrouble?: (kind: string) => string | undefined;
}

export interface Decoded {
  manifests: DraftManifest[];
  /** The place of each of `manifests` in the body, from 0. */
  indexes: number[];
  pluginBlocks: PluginBlock[];
  /** Empty exactly when everything may go on; nothing of a body with problems is to be used. */
  problems: Problem[];
}

type Fields = Record<string, unknown>;

const manifestFields = ["kind", "scope", "name", "spec", "metadata"];
/** Written by the server; a manifest that was read back is applied again with them. */
const ignoredMetadata = ["revision", "created_at", "updated_at"];
const metadataFields = [...ignoredMetadata, "if_revision"];

/**
 * One manifest or an array of them, as `POST /apply` receives it. A problem of one of them has its place.
 */
export function decodeManifests(body: unknown, options: DecodeOptions): Decoded {
  const items: unknown[] = Array.isArray(body) ? body : [body];
  const { manifestsPerApplyMax, problemsShownMax } = options.limits;
  if (items.length === 0) return refused("no manifests in the body; send one, or an array of them");
  if (items.length > manifestsPerApplyMax) {
    return refused(`${items.length} manifests in one apply; at most ${manifestsPerApplyMax} are allowed, send several`);
  }
  const decoded: Decoded = { manifests: [], indexes: [], pluginBlocks: [], problems: [] };
  const seenAt = new Map<string, number>();
  items.forEach((item, index) => {
    const problems = decodeOne(item, index, { decoded, options, seenAt });
    decoded.problems.push(...problemsAt(placeOf(index, items.length), problems));
  });
  return { ...decoded, problems: shorten(decoded.problems, problemsShownMax) };
}

/** Whether plugins have a say in a body: it names a kind that is not built in, or one that a plugin may route. */
export function concernsPlugins(body: unknown): boolean {
  const items: unknown[] = Array.isArray(body) ? body : [body];
  return items.some((item) => {
    if (!isFields(item) || typeof item.kind !== "string") return false;
    const kind = parseKind(item.kind);
    return kind === undefined || kind === "ingress" || kind === "app";
  });
}

/** Everything that is wrong with a spec, whatever it is: never throws. Paths start at `spec`. */
export function validateSpec(kind: WritableKind, spec: unknown, limits: ValidationLimits): Problem[] {
  const unsafe = safetyProblems(spec, "spec", limits.jsonDepthMax);
  return unsafe.length > 0 ? unsafe : specValidators[kind](spec, limits);
}

interface Progress {
  decoded: Decoded;
  options: DecodeOptions;
  seenAt: Map<string, number>;
}

function decodeOne(item: unknown, index: number, { decoded, options, seenAt }: Progress): Problem[] {
  if (!isFields(item)) return [{ path: "", message: `expected object, got ${typeName(item)}` }];
  const { kind, name, spec, metadata, problems, ...read } = readFields(item);
  if (kind === undefined) return problems;
  const known = parseKind(kind);
  const isPlugin = known === undefined && options.isPluginKind?.(kind, spec) === true;
  const scope = known === undefined ? scopeOfBlock(read.scope, name) : read.scope;
  if (known === undefined && !isPlugin) return [...problems, unknownKind(kind, options)];
  problems.push(
    ...(known === undefined
      ? checkBlock({ kind, scope, name, spec }, options.limits)
      : checkKnown({ kind: known, scope, name, spec }, options.limits, decoded.problems.length)),
  );
  problems.push(...repeated(formatKey({ kind: known ?? kind, scope, name }), index, seenAt));
  const ifRevision = metadata.if_revision;
  const condition = typeof ifRevision === "number" ? { ifRevision } : {};
  if (known === undefined) decoded.pluginBlocks.push({ index, kind, scope, name, spec, ...condition });
  else {
    decoded.manifests.push({ kind: known, scope, name, spec, ...condition });
    decoded.indexes.push(index);
  }
  return problems;
}

function checkKnown(
  manifest: { kind: WritableKind; scope: string; name: string; spec: Spec },
  limits: ValidationLimits,
  before: number,
): Problem[] {
  const { kind, scope, name, spec } = manifest;
  const identity = identityProblems(kind, scope, name);
  // Explaining a wrong shape takes milliseconds, and no more problems are shown: it is only counted.
  const isCounted = before > limits.problemsShownMax && safetyProblems(spec, "spec", limits.jsonDepthMax).length === 0;
  if (isCounted && !specShapes[kind](spec)) return [...identity, { path: "spec", message: "has faulty fields" }];
  return [...identity, ...validateSpec(kind, spec, limits)];
}

/** A block has a scope: its plugin keeps what it makes up in a config bucket. Its spec is for the plugin to judge. */
function checkBlock(block: { kind: string; scope: string; name: string; spec: Spec }, limits: ValidationLimits) {
  const problems = identityProblems("statefulset", block.scope, block.name);
  const told =
    block.scope === ""
      ? [{ path: "scope", message: `a ${block.kind.slice(0, 80)} block needs a scope, because its name cannot be one` }]
      : [];
  const others = problems.filter(({ path }) => path !== "scope" || block.scope !== "");
  return [...told, ...others, ...safetyProblems(block.spec, "spec", limits.jsonDepthMax)];
}

/** The fields of a manifest, each of its type; what is missing or wrong is in `problems`. */
function readFields(item: Fields) {
  const problems = unknownFields(item, manifestFields, "");
  const text = (field: string) => {
    const value = item[field];
    if (value === undefined) return undefined;
    if (typeof value === "string") return value;
    problems.push({ path: field, message: `expected string, got ${typeName(value)}` });
    return undefined;
  };
  const fields = (field: string): Fields => {
    const value = item[field];
    if (value === undefined) return {};
    if (isFields(value)) return value;
    problems.push({ path: field, message: `expected object, got ${typeName(value)}` });
    return {};
  };
  const kind = text("kind");
  if (item.kind === undefined) problems.push({ path: "kind", message: `is required; one of ${kindList()}` });
  const metadata = fields("metadata");
  problems.push(...metadataProblems(metadata));
  return { kind, scope: text("scope") ?? "", name: text("name") ?? "", spec: fields("spec"), metadata, problems };
}

function metadataProblems(metadata: Fields): Problem[] {
  const problems = unknownFields(metadata, metadataFields, "metadata.");
  const ifRevision = metadata.if_revision;
  const usable = ifRevision === undefined || (typeof ifRevision === "number" && Number.isSafeInteger(ifRevision));
  if (!usable || Number(ifRevision ?? 0) < 0) {
    problems.push({ path: "metadata.if_revision", message: `expected a revision, got ${typeName(ifRevision)}` });
  }
  return problems;
}

/** Each is compared with all that there are; more of them in one manifest are not told. */
const unknownShownMax = 51;

function unknownFields(value: Fields, known: string[], prefix: string): Problem[] {
  return Object.keys(value)
    .filter((field) => !known.includes(field))
    .slice(0, unknownShownMax)
    .map((field) => ({
      path: `${prefix}${field}`,
      message: `unknown field${didYouMeanField(field, known) || `; known are ${known.join(", ")}`}`,
      reason: "UnknownField",
    }));
}

function unknownKind(kind: string, options: DecodeOptions): Problem {
  const trouble = options.kindTrouble?.(kind);
  if (trouble !== undefined) return { path: "kind", message: trouble };
  const pluginKinds = options.pluginKinds?.() ?? [];
  const hint = didYouMean(kind, [...kindWords(), ...pluginKinds]);
  const plugins = pluginKinds.length === 0 ? "" : `, and of plugins ${pluginKinds.join(", ")}`;
  return {
    path: "kind",
    message: `"${kind.slice(0, 80)}" is not a kind${hint}; valid kinds are ${kindList()}${plugins}`,
  };
}

function repeated(ref: string, index: number, seenAt: Map<string, number>): Problem[] {
  const message = repeatedText(ref, index, seenAt);
  return message === undefined ? [] : [{ path: "name", message }];
}

/** What to say of a manifest that is in an apply a second time; `seenAt` takes the first in. */
export function repeatedText(ref: string, index: number, seenAt: Map<string, number>): string | undefined {
  const first = seenAt.get(ref);
  if (first !== undefined) return `manifests ${first + 1} and ${index + 1} are both ${ref}; keep one of them`;
  seenAt.set(ref, index);
  return undefined;
}

/** The manifest at an index of a body that has `count` of them. */
export function placeOf(index: number, count: number): Place {
  return { manifest: index + 1, ...(count > 1 ? { numbered: true } : {}) };
}

/** The manifests of a body whose specs have the right shape: what they are to each other can be judged. */
export function shapedOnes(
  { manifests, indexes }: Decoded,
  limits: ValidationLimits,
): Pick<Decoded, "manifests" | "indexes"> {
  const isShaped = ({ kind, spec }: DraftManifest) =>
    safetyProblems(spec, "spec", limits.jsonDepthMax).length === 0 && specShapes[kind](spec);
  const shaped = manifests.map(isShaped);
  return { manifests: manifests.filter((_, at) => shaped[at]), indexes: indexes.filter((_, at) => shaped[at]) };
}

/** Those of the problems of a body that say nothing about what another problem is about already. */
export function furtherProblems(known: readonly Problem[], found: readonly Problem[]): Problem[] {
  return found.filter(({ place, path }) =>
    known.every((one) => one.place?.manifest !== place?.manifest || !isNear(one.path, path)),
  );
}

function shorten(problems: Problem[], shownMax: number): Problem[] {
  const rest = problems.length - shownMax;
  if (rest <= 0) return problems;
  return [...problems.slice(0, shownMax), { path: "", message: `and at least ${rest} more` }];
}

function refused(message: string): Decoded {
  return { manifests: [], indexes: [], pluginBlocks: [], problems: [{ path: "", message }] };
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
