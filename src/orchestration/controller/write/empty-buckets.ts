import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import { envSources } from "../../core/dependencies.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

type Stored = Pick<Context, "store">;

/** What an apply writes, also one that is only planned and has stored nothing. */
interface Coming {
  puts: readonly { manifest: ManifestKey }[];
  blocks: readonly { block: ManifestKey }[];
}

type Named = Pick<ManifestKey, "scope" | "name">;

const isCalled =
  ({ scope, name }: Named) =>
  (key: Named) =>
    key.scope === scope && key.name === name;

/** Warnings for `env_from` of a name that nothing is stored under: it starts without those variables, a slip perhaps. */
export function emptyBuckets(context: Stored, { puts, blocks }: Coming, manifest: StoredManifest): string[] {
  const coming = [...puts.map((put) => put.manifest), ...blocks.map(({ block }) => block)];
  return envSources(manifest)
    .filter((source) => !coming.some(isCalled(source)))
    .filter(({ scope, name }) => isUnknown(context, { scope, name, keys: [] }))
    .map(
      ({ scope, name }) => `env_from: nothing is called ${scope}/${name}, and it has no config: it gives no variables`,
    );
}

/** Warnings for an ingress that leads to what is not there: it is stored, and answers 503 until that is applied. */
export function missingService(
  { store }: Stored,
  { puts }: Pick<Coming, "puts">,
  { kind, scope, name, spec }: StoredManifest,
): string[] {
  if (kind !== "ingress") return [];
  const { service = name, plugin } = decodeSpec(kind, spec);
  if (plugin !== undefined || service.startsWith("@")) return [];
  const coming = puts.map((put) => put.manifest).filter(isCalled({ scope, name: service }));
  const isThere = [...coming, ...store.manifests.list({ scope, name: service })].some((one) => isPodKind(one.kind));
  return isThere
    ? []
    : [`service: there is no deployment or statefulset ${scope}/${service}: visitors get 503 until it is applied`];
}

/** The keys that a plugin set in the config of `scope/name`, such as the URL of a link. */
export interface ConfigGiven {
  scope: string;
  name: string;
  keys: readonly string[];
}

/** Warnings for config that was given to a name that nothing is stored under, and that nothing reads: a slip perhaps. */
export function unreadConfig(context: Stored, given: readonly ConfigGiven[]): string[] {
  return together(given)
    .filter((one) => isUnknown(context, one) && !isRead(context, one))
    .map(({ scope, name, keys }) => {
      const what = keys.length === 1 ? `${keys[0]} is` : `${keys.join(", ")} are`;
      return `nothing is called ${scope}/${name} yet: ${what} in its config, and nothing reads that until it is applied`;
    });
}

/** One app can be given several URLs by one answer. */
function together(given: readonly ConfigGiven[]): ConfigGiven[] {
  const names = Map.groupBy(given, ({ scope, name }) => `${scope}/${name}`);
  return [...names.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : { ...first, keys: [...new Set(same.flatMap(({ keys }) => keys))] };
  });
}

/** Something has it in its `env_from`: config that is shared needs no app of its name. */
function isRead({ store }: Stored, { scope, name }: ConfigGiven): boolean {
  return store.manifests.dependants(`bucket/${scope}/${name}`).length > 0;
}

/** Neither a manifest nor a block has the name, and its config holds no more than `keys`. */
function isUnknown({ store }: Stored, { scope, name, keys }: ConfigGiven): boolean {
  if (store.manifests.list({ scope, name }).length + store.blocks.list({ scope, name }).length > 0) return false;
  return Object.keys(store.config.bucket(scope, name)).every((key) => keys.includes(key));
}
