import { version } from "../package.json";

export { version };

/** Put in by build.ts; absent when the source runs unbuilt. */
declare const BERTH_COMMIT: string | undefined;

/** Commit the executable was built from, with `-dirty` when the tree had changes; "unknown" outside a checkout. */
export const commit: string = typeof BERTH_COMMIT === "string" ? BERTH_COMMIT : "unknown";

/** `<version> (commit: <hash>)` */
export function versionText(): string {
  return `${version} (commit: ${commit})`;
}
