import type { Client } from "../../../base/wire/client.ts";
import type { ListedManifest } from "../../../orchestration/api/apply.ts";
import { listEvents } from "../../../orchestration/api/events.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import { podKinds } from "../../../orchestration/api/manifest.ts";
import { listReleases, type Release } from "../../../orchestration/api/releases.ts";

/** The releases of each app, newest first, by `keyText`. */
export type ReadReleases = (apps: readonly ListedManifest[]) => Promise<ReadonlyMap<string, readonly Release[]>>;

const eventsRead = "1000";
const about = /^(?:release|manifest|rollout|restart|block|apply)\b/;

/** Asks for the releases of an app once, and again when the event log names it: looks are many, releases are few. */
export function createReleaseReader(client: Client): ReadReleases {
  const known = new Map<string, readonly Release[]>();
  let seq: number | undefined;

  /** Forgets the apps that the events since the last look name; all of them where there were too many. */
  async function forget(): Promise<void> {
    const after = seq === undefined ? {} : { after: String(seq) };
    const { events } = await client.call(listEvents, {
      query: { ...after, limit: seq === undefined ? "1" : eventsRead },
    });
    if (seq === undefined || events.length >= Number(eventsRead)) known.clear();
    for (const { action, kind = "", scope = "", name = "" } of events) {
      if (about.test(action)) known.delete(keyText({ kind, scope, name }));
    }
    seq = events.at(-1)?.seq ?? seq ?? 0;
  }

  return async (manifests) => {
    await forget();
    const apps = manifests.filter(({ kind }) => podKinds.some((pod) => pod === kind));
    const keys = new Set(apps.map(keyText));
    for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
    const answers = new Map(known);
    for (const app of apps.filter((one) => !known.has(keyText(one)))) {
      const { kind, scope, name } = app;
      const { releases } = await client.call(listReleases, { query: { kind, scope, name } });
      // One that is under way changes without an event for each step.
      if (releases.every(({ status }) => status === "succeeded" || status === "failed"))
        known.set(keyText(app), releases);
      answers.set(keyText(app), releases);
    }
    return answers;
  };
}
