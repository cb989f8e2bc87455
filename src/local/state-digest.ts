import { statSync } from "node:fs";
import type { Layout } from "../base/disk/layout.ts";
import { contentDigest, type Counted } from "../base/sqlite/database.ts";

/** What a server writes down by itself, all the time: it comes with the next copy, and asks for none. */
const ofState: Counted = {
  without: [
    ...["events", "runs", "last_instants", "seen_schedules", "deaths", "deliveries", "plugin_runs", "operations"],
    ...["status", "looks", "probe_readiness", "earlier_restarts", "autoscale", "sleep", "keyed_requests"],
    ...["pulled_images", "asset_files", "counter"],
  ],
  // Runs and lists of copies come with each copy.
  only: { backups: "select id from backups where kind in ('key', 'target')" },
};

const ofIdentity: Counted = {
  without: [
    ...["audit", "mails", "hook_deliveries", "search_changes", "oauth_states", "oauth_state_counts", "browsers"],
    ...["one_time", "one_time_counts", "refresh_chains"],
  ],
  // Not when a session was last used.
  only: { sessions: "select id, revoked_at from sessions" },
};

/**
 * A digest of the desired state, the users, their sessions and the keys: what is copied soon after it changed. Computed again only
 * where one of the files was written.
 */
export function createStateDigest(layout: Pick<Layout, "database" | "identityDatabase">): () => string {
  let known = { stamp: "", digest: "" };
  return () => {
    const stamp = [layout.database, layout.identityDatabase].flatMap(writtenAt).join(" ");
    if (stamp !== known.stamp) {
      const digests = [contentDigest(layout.database, ofState)];
      if (writtenAt(layout.identityDatabase).length > 0)
        digests.push(contentDigest(layout.identityDatabase, ofIdentity));
      known = { stamp, digest: digests.join("") };
    }
    return known.digest;
  };
}

/** Times and sizes of a database and its log; empty where there is none. */
function writtenAt(path: string): string[] {
  return [path, `${path}-wal`].flatMap((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found === undefined ? [] : [`${found.mtimeMs}:${found.size}`];
  });
}
