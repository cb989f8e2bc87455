import type { Topic } from "../../api/stream.ts";
import { mayReach, reachesAll } from "../../../access/apps.ts";
import type { Grant } from "../tokens/grant.ts";

/** What one client of the stream gets to see. */
export interface StreamFilter {
  /** Clients with the same key get the same bytes. */
  key: string;
  topics: ReadonlySet<Topic>;
  /** What belongs to an app. */
  sees(app: { scope: string; name: string }): boolean;
  /** What belongs to no app. */
  seesAll: boolean;
}

/** `app`: only that scope or app, of those that the token reaches. */
export function streamFilter(
  grant: Pick<Grant, "apps">,
  topics: readonly Topic[],
  app: { scope: string; name?: string } | undefined,
): StreamFilter {
  const wanted = new Set(topics);
  return {
    key: JSON.stringify([grant.apps, [...wanted].sort(), app?.scope, app?.name]),
    topics: wanted,
    sees: (one) =>
      mayReach(grant, one) &&
      (app === undefined || (app.scope === one.scope && (app.name === undefined || app.name === one.name))),
    seesAll: reachesAll(grant) && app === undefined,
  };
}
