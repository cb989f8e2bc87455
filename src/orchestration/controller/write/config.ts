import { isFields, own } from "../../../base/pure/fields.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import { Failure, type Problem, problemsFailure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { identityProblems } from "../../core/identity.ts";
import type { Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Asker } from "../requests.ts";
import { mintRelease } from "../rollout/releases.ts";
import { writeUnlessDry } from "../state/dry-run.ts";
import { requireUnlocked } from "../state/locks.ts";
import { isPodKind, required } from "../state/target.ts";

export interface Bucket {
  scope: string | undefined;
  name: string | undefined;
}

/** GET /config. */
export function getConfig(
  context: Context,
  query: Bucket & { key: string | undefined; merge: boolean },
): Record<string, unknown> {
  const scope = required(query.scope, "scope");
  const { config } = context.store;
  const vars = query.name && query.merge ? config.merged(scope, query.name) : config.bucket(scope, query.name ?? "");
  if (!query.key) return { vars };
  const value = own(vars, query.key);
  if (value === undefined) {
    const next =
      didYouMean(query.key, Object.keys(vars)) ||
      `; see: berth config list ${query.name ? `${scope}/${query.name}` : scope}`;
    throw new Failure("not_found", `key "${query.key}" is not set${next}`);
  }
  return { [query.key]: value };
}

export interface ConfigOptions extends Asker {
  restart: boolean;
  /** Answer what would change and restart, and store nothing. */
  dryRun?: boolean;
  /** Keys that are set to the empty string instead of unset. */
  empty?: readonly string[];
}

/** POST /config: all keys in one transaction; an empty value unsets, unless the options name its key. */
export async function setConfig(
  context: Context,
  bucket: Bucket,
  { vars, options }: { vars: unknown; options: ConfigOptions },
) {
  const where = bucketOf(bucket);
  const checked = checkVars(context, vars);
  const wrong = options.empty?.find((key) => !Object.hasOwn(checked, key) || checked[key] !== "");
  if (wrong !== undefined) {
    throw new Failure("invalid", `query empty: "${wrong}" is not a key of the body with an empty value`);
  }
  return patch(context, where, { vars: checked, options, action: "config.set" });
}

/** DELETE /config: an absent key is fine. */
export async function unsetConfig(
  context: Context,
  bucket: Bucket & { key: string | undefined },
  options: ConfigOptions,
) {
  const where = bucketOf(bucket);
  const key = required(bucket.key, "key");
  return patch(context, where, { vars: { [key]: "" }, options, action: "config.unset" });
}

function bucketOf(bucket: Bucket): { scope: string; name: string } {
  const scope = required(bucket.scope, "scope");
  const name = bucket.name ?? "";
  const problems = identityProblems("deployment", scope, name === "" ? "any" : name);
  if (problems.length > 0) throw problemsFailure(problems);
  return { scope, name };
}

const keyPattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

function checkVars(context: Context, vars: unknown): Record<string, string> {
  if (typeof vars !== "object" || vars === null || Array.isArray(vars)) {
    throw new Failure("invalid", "expected an object of string keys to string values");
  }
  const entries = Object.entries(vars);
  if (entries.length === 0) throw new Failure("invalid", "no keys given");
  const problems = entries.flatMap(([key, value]) => varProblems(context, key, value));
  if (problems.length > 0) throw problemsFailure(problems);
  return Object.fromEntries(entries);
}

/** What is wrong with one key and its value; `path` is the key. */
export function varProblems(context: Context, key: string, value: unknown): Problem[] {
  const bytesMax = context.limits.configValueBytesMax;
  if (!keyPattern.test(key) || key === "__proto__") {
    return [
      { path: key.slice(0, 140), message: "a key is letters, digits and underscores, not beginning with a digit" },
    ];
  }
  if (typeof value !== "string") return [{ path: key, message: `expected string, got ${typeName(value)}` }];
  if (value.includes("\0")) return [{ path: key, message: "a value cannot hold a NUL character" }];
  if (!value.isWellFormed()) return [{ path: key, message: "is not valid Unicode: it holds half of a surrogate pair" }];
  if (Buffer.byteLength(value) > bytesMax) return [{ path: key, message: `longer than ${bytesMax} bytes` }];
  return [];
}

function typeName(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

interface Patch {
  vars: Record<string, string>;
  options: ConfigOptions;
  action: string;
}

async function patch(context: Context, bucket: { scope: string; name: string }, change: Patch) {
  return writeUnlessDry(context.store, change.options.dryRun === true, (tx) =>
    patchInside(context, tx, { ...bucket, ...change }),
  );
}

/** Changes a bucket inside a transaction, checked values only; who reads it is restarted where the options say so. */
export function patchInside(
  context: Context,
  tx: Transaction,
  { scope, name, vars, options, action }: Patch & { scope: string; name: string },
) {
  if (options.dryRun !== true) requireUnlocked(context, tx, [name === "" ? { scope } : { scope, name }]);
  const now = context.clock.now();
  const changed = tx.config.patch(scope, name, vars, { now, empty: options.empty });
  refuseTooMany(context, tx, scope, name);
  if (!options.restart) tx.config.fellBehind(scope, name, changed, now);
  const behindSince = options.restart ? tx.config.behindSince(scope, name, Object.keys(vars)) : undefined;
  const readers = options.restart ? readersOf(tx, scope, name) : [];
  // Who was not restarted for an earlier change of these keys is now, also where the values are there already.
  const behind = readers.filter((key) => behindSince !== undefined && madeBefore(context, key, behindSince));
  const restarting = changed.length > 0 ? readers : behind;
  const notes = [
    ...restarting.flatMap((key) => restartWith(context, tx, { key, options, now })),
    ...readers.flatMap((key) => overruledIn(tx, key, vars)),
  ];
  if (restarting.length > 0) tx.config.caughtUp(scope, name);
  if (changed.length > 0 || restarting.length > 0) {
    const detail = { keys: changed, restart: options.restart };
    tx.events.append({ actor: options.actor, action, scope, ...(name === "" ? {} : { name }), detail }, now);
  }
  return { changed, restarting: restarting.map(formatKey), ...(notes.length > 0 ? { notes } : {}) };
}

/** Whether a replica of it is older than that. While the engine is away this is not known. */
function madeBefore({ link, pods }: Context, key: ManifestKey, at: number): boolean {
  if (!link.up()) return true;
  return pods.of(key).some(({ role, createdAt }) => role === undefined && createdAt <= at);
}

/** New config may be what a failed release was missing, so that one is tried again. Returns what is worth knowing. */
function restartWith(
  context: Context,
  tx: Transaction,
  { key, options: { actor, by, dryRun }, now }: { key: ManifestKey; options: ConfigOptions; now: number },
): string[] {
  const [latest, before] = tx.releases.list(key);
  const manifest = tx.manifests.get(key);
  tx.manifests.raiseGeneration(key);
  if (manifest !== undefined && latest?.status === "failed") {
    const { id } = mintRelease(context, tx, { manifest, cause: "config", author: { actor, by }, now });
    // The release of a dry run never comes to be: its id would name nothing.
    const again = dryRun === true ? "" : ` as release ${id}`;
    return [`${formatKey(key)}: release ${latest.id} failed and is tried again${again}`];
  }
  if (latest?.cause !== "auto_rollback" || before?.status !== "failed") return [];
  return [
    `${formatKey(key)}: release ${before.id} failed and was rolled back; what came back is restarted, ` +
      "and the failed one is not tried again: apply its manifest again for that",
  ];
}

/** Keys that have no effect on a reader, because its manifest sets them too. */
function overruledIn(tx: Transaction, key: ManifestKey, vars: Readonly<Record<string, string>>): string[] {
  const { env } = tx.manifests.get(key)?.spec ?? {};
  const own = isFields(env) ? Object.keys(vars).filter((name) => vars[name] !== "" && Object.hasOwn(env, name)) : [];
  return own.length === 0 ? [] : [`${formatKey(key)}: env of its manifest sets ${own.join(", ")} too, and wins`];
}

function refuseTooMany(context: Context, tx: Transaction, scope: string, name: string): void {
  const count = Object.keys(tx.config.bucket(scope, name)).length;
  const most = context.limits.configKeysMax;
  if (count > most) throw new Failure("invalid", `the bucket would hold ${count} keys; at most ${most} fit`);
}

/** Who runs with this bucket in its environment: the apps themselves and those that name them in `env_from`. */
function readersOf(tx: Transaction, scope: string, name: string): ManifestKey[] {
  const own = tx.manifests.list({ scope, ...(name === "" ? {} : { name }) });
  const others = tx.manifests.dependants(`bucket/${scope}/${name}`);
  const unique = new Map([...own, ...others].map((key) => [formatKey(key), key]));
  return [...unique.values()]
    .filter((key) => isPodKind(key.kind))
    .map(({ kind, scope: at, name: called }) => ({ kind, scope: at, name: called }));
}
