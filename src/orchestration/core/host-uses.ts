import type { ManifestKey } from "../api/manifest.ts";

/** A text that names the host of another resource. */
interface HostUse {
  /** The resource that is named. */
  what: ManifestKey;
  /** As written: `main-0.data`. */
  host: string;
}

/** Finds the hosts of resources with pods in texts: URLs in config above all. */
export interface HostFinder {
  uses(text: string): HostUse[];
}

/** `dnsSuffix` is the one under which every host has a second name: `main.data.berth`. */
export function hostFinder(resources: readonly ManifestKey[], dnsSuffix: string): HostFinder {
  const byHost = new Map(resources.map((key) => [`${key.name}.${key.scope}`.toLowerCase(), key]));
  const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
  const pattern = new RegExp(
    `(?<![a-z0-9.-])(${label})\\.(${label})(?:\\.${dnsSuffix})?(?![a-z0-9-]|\\.[a-z0-9])`,
    "gi",
  );
  return {
    uses(text) {
      return [...text.matchAll(pattern)].flatMap(([host, name = "", scope = ""]) => {
        const what = byHost.get(`${name}.${scope}`.toLowerCase()) ?? replicaOf(byHost, { name, scope });
        return what === undefined ? [] : [{ what, host }];
      });
    },
  };
}

/** Replicas of statefulsets have names of their own. */
function replicaOf(byHost: ReadonlyMap<string, ManifestKey>, { name, scope }: { name: string; scope: string }) {
  const [, base] = /^(.+)-\d{1,6}$/.exec(name) ?? [];
  const found = base === undefined ? undefined : byHost.get(`${base}.${scope}`.toLowerCase());
  return found?.kind === "statefulset" ? found : undefined;
}
