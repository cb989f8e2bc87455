import { containerKinds, formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import type { Use } from "../../api/uses.ts";
import { type HostFinder, hostFinder } from "../../core/host-uses.ts";
import type { Naming } from "../../core/naming.ts";
import type { BlockReads } from "../../store/plugin-records.ts";
import type { ConfigReads, ManifestReads } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { isPodKind } from "../state/target.ts";

interface Reads {
  manifests: Pick<ManifestReads, "list">;
  config: Pick<ConfigReads, "bucket">;
  blocks: Pick<BlockReads, "ownerOf">;
}

/** GET /uses. */
export function listUses({ store, names }: Context, { scope, name }: Target): { uses: Use[] } {
  const stored = store.manifests.list({ ...(scope ? { scope } : {}), ...(name ? { name } : {}) });
  return { uses: usesOf(store, names, stored).slice(0, usesMax) };
}

const usesMax = 1_000;

/** Who stays without what goes, a line each: read before it goes. */
export function lostHostWarnings(reads: Reads, names: Naming, gone: readonly ManifestKey[]): string[] {
  const leaving = new Set(gone.map(formatKey));
  return usesOf(reads, names, gone)
    .filter(({ by }) => !leaving.has(by))
    .map(({ what, by, where }) => `${what} is used by ${by}: ${where}`);
}

/** Every host of these resources that the config or the manifest of another one names. Values are never told. */
function usesOf(reads: Reads, names: Naming, resources: readonly ManifestKey[]): Use[] {
  const withHosts = resources.filter(({ kind }) => isPodKind(kind));
  if (withHosts.length === 0) return [];
  const finder = hostFinder(withHosts, names.dnsSuffix);
  const users = reads.manifests.list().filter(({ kind }) => containerKinds.some((one) => one === kind));
  return users.flatMap((user) => usesBy(reads, finder, user));
}

function usesBy({ config, blocks }: Reads, finder: HostFinder, user: StoredManifest): Use[] {
  const { scope, name } = user;
  const places = [
    ...Object.entries(config.bucket(scope, name)).map(([key, text]) => ({ text, where: `${key} in its config` })),
    ...Object.entries(config.bucket(scope, "")).map(([key, text]) => ({
      text,
      where: `${key} in the config of ${scope}`,
    })),
    { text: JSON.stringify(user.spec), where: "its manifest" },
  ];
  const own = blocks.ownerOf(user);
  return places.flatMap(({ text, where }) =>
    finder.uses(text).flatMap(({ what, host }): Use[] => {
      const block = blocks.ownerOf(what);
      // Parts of one block name each other.
      const isSelf =
        (what.scope === scope && what.name === name) || (block && own && formatKey(block) === formatKey(own));
      if (isSelf) return [];
      const ofBlock = block === undefined ? {} : { block: formatKey(block) };
      return [{ what: formatKey(what), ...ofBlock, by: formatKey(user), where: `${where} names ${host}` }];
    }),
  );
}
