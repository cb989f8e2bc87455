import { version } from "../package.json";

export { version };

/** Put in by build.ts; absent when the source runs unbuilt. */
declare const BERTH_COMMIT: string | undefined;

/** Commit the executable was built from, with `-dirty` when the tree had changes; "unknown" outside a checkout. */
export const commit: string = typeof BERTH_COMMIT === "string" ? BERTH_COMMIT : "unknown";

/** Put in by build.ts; absent when the source runs unbuilt. */
declare const BERTH_RELEASE_KEYS: string | undefined;

/** Public keys whose releases this executable takes, a line each, as in `id_ed25519.pub`. Empty: it was built without one. */
export const builtInReleaseKeys: string = typeof BERTH_RELEASE_KEYS === "string" ? BERTH_RELEASE_KEYS : "";

/** `<version> (commit: <hash>)` */
export function versionText(): string {
  return `${version} (commit: ${commit})`;
}
