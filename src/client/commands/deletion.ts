import { ApiError, type Client } from "../../base/wire/client.ts";
import { keyOf } from "../../orchestration/api/manifest-key.ts";
import { coreKinds, formatKey, type Manifest, type ManifestKey } from "../../orchestration/api/manifest.ts";
import { apply, deleteManifest, listManifests, type PruneSummary } from "../../orchestration/api/apply.ts";
import type { Leftover } from "../../orchestration/api/leftovers.ts";
import { deleteResource, deleteScope } from "../../orchestration/api/resource.ts";
import { scopeOfBlock } from "../../orchestration/core/identity.ts";
import { parseKind } from "../../orchestration/core/kind.ts";
import { usageFailure } from "../basics/failures.ts";
import { kindNamed, normalKind } from "../basics/kinds.ts";
import { leftoversOf, leftoverText } from "../text/leftovers.ts";
import type { ManifestSet } from "../manifests/read.ts";
import { refOf, parseReference, resourceReference, splitReplica } from "../basics/reference.ts";

/** What a delete would do, and how to do it. */
export interface Deletion {
  /** What goes, as it is shown: `deployment/shop/web`. */
  goes: string[];
  /** What was named but is not there. */
  missing: string[];
  run(): Promise<Deleted>;
}

export interface Deleted {
  /** `data` for the envelope. */
  data: unknown;
  /** Volumes that were removed. */
  volumes: string[];
  /** Volumes that stay, each with the reason. */
  kept: string[];
  /** What the server says of those who used what went. */
  warnings: string[];
  /** What could not be wiped. */
  errors: string[];
}

interface DeletionSetup {
  api: Client;
  prune: boolean;
}

/** `delete KIND REF`: one manifest. */
export async function kindDeletion(kind: string, text: string, setup: DeletionSetup): Promise<Deletion> {
  const { scope, name } = resourceReference(text);
  const found = await setup.api.call(listManifests, { query: { kind: normalKind(kind), scope, name } });
  const [first, ...others] = found;
  if (others.length > 0) throw usageFailure(`"${text}" is in several scopes: ${found.map(refOf).join(", ")}`);
  // Its route goes first, so that nothing is left that leads nowhere.
  const route = parseKind(kind) === "app" && first !== undefined ? { ...keyOf(first), kind: "ingress" } : undefined;
  const routes = route === undefined ? [] : await setup.api.call(listManifests, { query: route });
  const there = [...routes, ...found].map(keyOf);
  if (there.length > 0 || scope === undefined)
    return manifestDeletion(there, there.length > 0 ? [] : [`${kind}/${text}`], setup);
  return goneDeletion(
    [{ kind: normalKind(kind), scope, name }],
    manifestDeletion([], [`${kind}/${text}`], setup),
    setup,
  );
}

/** Adds what is left of those that are not stored, where it is to be wiped. */
async function goneDeletion(gone: readonly ManifestKey[], rest: Deletion, setup: DeletionSetup): Promise<Deletion> {
  const left = await Promise.all(gone.map(async (key) => ({ key, found: await remains(key, setup) })));
  const there = left.filter(({ found }) => found.length > 0);
  if (there.length === 0) return rest;
  const wiped = manifestDeletion(
    there.map(({ key }) => key),
    [],
    setup,
  );
  const named = new Set(there.map(({ key }) => formatKey(key)));
  return {
    goes: [...rest.goes, ...there.flatMap(({ found }) => found.map(leftoverText))],
    missing: rest.missing.filter((ref) => !named.has(ref)),
    async run() {
      const [first, second] = [await rest.run(), await wiped.run()];
      return rest.goes.length === 0 ? second : joined(first, second);
    },
  };
}

function joined(first: Deleted, second: Deleted): Deleted {
  return {
    data: { deleted: [first.data, second.data] },
    volumes: [...first.volumes, ...second.volumes],
    kept: [...first.kept, ...second.kept],
    warnings: [...first.warnings, ...second.warnings],
    errors: [...first.errors, ...second.errors],
  };
}

async function remains({ kind, scope, name }: ManifestKey, { api, prune }: DeletionSetup): Promise<Leftover[]> {
  if (!prune || scope === "") return [];
  const found = await leftoversOf(api, { scope, name });
  return found.filter(({ kinds }) => kinds.length === 0 || kinds.includes(kind));
}

/** `delete SCOPE`, `SCOPE/NAME`, `SCOPE/NAME.ORDINAL` or `KIND/SCOPE/NAME`. */
export async function referenceDeletion(text: string, setup: DeletionSetup): Promise<Deletion> {
  const { word, kind, scope = "", name = "" } = parseReference(text);
  if (kind !== undefined) return kindDeletion(kind, `${scope}/${name}`, setup);
  if (word !== undefined) return scopeDeletion(word, setup);
  const found = await setup.api.call(listManifests, { query: { scope, name } });
  const split = splitReplica(name);
  if (found.length === 0 && split !== undefined && /^\d+$/.test(split.replica)) {
    return ordinalDeletion({ scope, name: split.name, ordinal: split.replica }, setup);
  }
  const left = setup.prune ? await leftoversOf(setup.api, { scope, name }) : [];
  return {
    goes: [...found.map(refOf), ...left.map(leftoverText)],
    missing: found.length + left.length === 0 ? [text] : [],
    run: async () => {
      const data = await setup.api.call(deleteResource, { query: { scope, name, ...pruneQuery(setup) } });
      const wiped = data.resources_wiped ?? [];
      return {
        data,
        ...summed(
          wiped.map(({ pruned }) => pruned),
          data,
        ),
      };
    },
  };
}

async function scopeDeletion(scope: string, setup: DeletionSetup): Promise<Deletion> {
  if (kindNamed(scope) !== undefined) throw usageFailure(`say which ${scope}: delete ${scope} SCOPE/NAME`);
  const found = await setup.api.call(listManifests, { query: { scope } });
  const left = setup.prune ? await leftoversOf(setup.api, { scope }) : [];
  return {
    goes: [...found.map(refOf), ...left.map(leftoverText)],
    missing: found.length + left.length === 0 ? [scope] : [],
    run: async () => {
      const data = await setup.api.call(deleteScope, { query: { scope, ...pruneQuery(setup) } });
      return {
        data,
        ...summed(
          data.resources_wiped.map(({ pruned }) => pruned),
          data,
        ),
      };
    },
  };
}

async function ordinalDeletion(
  query: { scope: string; name: string; ordinal: string },
  setup: DeletionSetup,
): Promise<Deletion> {
  const { scope, name, ordinal } = query;
  const found = await setup.api.call(listManifests, { query: { kind: "statefulset", scope, name } });
  return {
    goes: found.map((manifest) => `pod ${ordinal} of ${refOf(manifest)}, which is made again`),
    missing: found.length === 0 ? [`${scope}/${name}.${ordinal}`] : [],
    run: async () => {
      const data = await setup.api.call(deleteResource, { query: { ...query, ...pruneQuery(setup) } });
      const summary = data.summary ?? { volumes_removed: [], errors: [] };
      return {
        data,
        volumes: summary.volumes_removed,
        kept: [],
        warnings: [],
        errors: [...summary.errors, ...(data.errors ?? [])],
      };
    },
  };
}

/** `delete -f`: what the files declare, after the server has expanded what is not a core kind. */
export async function fileDeletion(set: ManifestSet, setup: DeletionSetup): Promise<Deletion> {
  const { blocks, manifests } = await declared(set, setup.api);
  const wanted = [...manifests, ...blocks].map(keyOf);
  const stored = new Set([...(await setup.api.call(listManifests, { query: {} })), ...blocks].map(refOf));
  const there = wanted.filter((key) => stored.has(formatKey(key)));
  const missing = wanted.filter((key) => !stored.has(formatKey(key)));
  // Routes go first and what they lead to last, so that nothing is left that leads nowhere.
  return goneDeletion(missing, manifestDeletion(there.toReversed(), missing.map(formatKey), setup), setup);
}

type Identity = Pick<Manifest, "kind" | "scope" | "name">;

/** Blocks of plugins go as blocks, with all that they became; what is not stored is left to the server to explain. */
async function declared(set: ManifestSet, api: Client): Promise<{ blocks: Identity[]; manifests: Identity[] }> {
  const blocks: Identity[] = [];
  const others: Record<string, unknown>[] = [];
  for (const manifest of set.manifests) {
    const kind = String(manifest.kind);
    const name = String(manifest.name);
    const scope = scopeOfBlock(typeof manifest.scope === "string" ? manifest.scope : "", name);
    const found = isOurs(kind) ? [] : await storedBlock(api, { kind, scope, name });
    blocks.push(...found);
    if (found.length === 0) others.push(manifest);
  }
  return { blocks, manifests: others.length === 0 ? [] : await expanded({ ...set, manifests: others }, api) };
}

function isOurs(kind: unknown): boolean {
  return kind === "app" || coreKinds.some((core) => core === normalKind(String(kind)));
}

/** Nothing for a kind that the server does not know either: the dry run tells what is wrong with it. */
async function storedBlock(api: Client, query: ManifestKey): Promise<Manifest[]> {
  return api.call(listManifests, { query: { ...query } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 400) return [];
    throw error;
  });
}

async function expanded(set: ManifestSet, api: Client): Promise<Identity[]> {
  const isCore = ({ kind }: Record<string, unknown>) => coreKinds.some((core) => core === normalKind(String(kind)));
  if (set.manifests.every(isCore)) {
    return set.manifests.map(({ kind, scope, name }) => ({
      kind: normalKind(String(kind)),
      scope: typeof scope === "string" ? scope : "",
      name: String(name),
    }));
  }
  return (await api.call(apply, { body: set.manifests, query: { dry_run: "true" } })).applied;
}

function manifestDeletion(keys: readonly ManifestKey[], missing: string[], setup: DeletionSetup): Deletion {
  return {
    goes: keys.map(formatKey),
    missing,
    run: async () => {
      const deleted: (ManifestKey & { pruned: PruneSummary })[] = [];
      const told: string[] = [];
      for (const { kind, scope, name } of keys) {
        const { pruned, warnings = [] } = await setup.api.call(deleteManifest, {
          query: { kind, scope, name, ...pruneQuery(setup) },
        });
        deleted.push({ kind, scope, name, pruned });
        // Those that read an asset and go in the same breath miss nothing.
        told.push(...warnings.filter((text) => keys.every((key) => !text.includes(` read by ${formatKey(key)}, `))));
      }
      const [only] = deleted;
      const data = deleted.length === 1 && only !== undefined ? { pruned: only.pruned } : { deleted };
      return {
        data,
        ...summed(
          deleted.map(({ pruned }) => pruned),
          { warnings: told },
        ),
      };
    },
  };
}

function summed(
  summaries: readonly PruneSummary[],
  { errors = [], warnings = [] }: { errors?: string[]; warnings?: string[] },
): Omit<Deleted, "data"> {
  return {
    warnings,
    volumes: summaries.flatMap((summary) => summary.volumes_removed),
    kept: summaries.flatMap((summary) => summary.volumes_kept ?? []),
    errors: [...summaries.flatMap((summary) => summary.errors), ...errors],
  };
}

function pruneQuery({ prune }: DeletionSetup): { prune: string | undefined } {
  return { prune: prune ? "true" : undefined };
}
