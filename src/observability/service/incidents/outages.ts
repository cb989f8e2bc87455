import { keyText } from "../../../orchestration/api/manifest-key.ts";
import { why } from "../../../orchestration/api/why.ts";
import type { AppFact, Facts } from "../../core/alerts/facts.ts";
import { isDown } from "../../core/alerts/findings.ts";
import { causesOf } from "../../core/incidents/causes.ts";
import type { OutageRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";

const minuteMs = 60_000;

interface OutageRoom {
  /** What a look found: opens and closes the outages of apps. */
  take(facts: Facts): Promise<void>;
}

/** Notes the spans in which no replica of an app was ready, with what they are put down to. */
export function createOutageRoom(parts: AlertParts): OutageRoom {
  const { store } = parts;
  /** When the failed requests of the last minute were last added, by app. */
  const counted = new Map<string, number>();
  return {
    async take(facts) {
      const { apps, now } = facts;
      if (apps === undefined) return;
      const open = store.outages.open();
      const known = new Set(open.map(keyText));
      // One that never came up took nothing from a visitor: the alert tells it, and no budget pays for it. Its good
      // release can leave the list of the newest ones while it is down: an outage goes on then.
      const counts = (app: AppFact) => app.hasServed || known.has(keyText(app));
      const down = new Map(apps.filter((app) => isDown(app) && counts(app)).map((app) => [keyText(app), app]));
      const begun = [...down.values()].filter((app) => !known.has(keyText(app)));
      if (open.length === 0 && begun.length === 0) return;
      const causes = await Promise.all(
        begun.map((app, index) => causeOf(parts, { app, now, isAsked: index < parts.limits.whysPerRound })),
      );
      const updates = open.map((outage) => {
        const isOver = !down.has(keyText(outage));
        // After a restart of the server: when it came up is not known, so the last time that it was seen down counts.
        if (isOver) return { ...outage, to: now - outage.seenAt > minuteMs ? outage.seenAt : now };
        return { ...outage, seenAt: now, failedRequests: outage.failedRequests + failedNow(outage, facts, counted) };
      });
      const isNews = begun.length > 0 || updates.some(({ to }) => to !== undefined);
      await store.write(
        ({ outages }) => {
          for (const outage of updates) outages.update(outage);
          begun.forEach(({ kind, scope, name }, index) => {
            const cause = causes[index] ?? unknown;
            outages.add({ kind, scope, name, from: now, to: undefined, seenAt: now, ...cause, failedRequests: 0 });
          });
        },
        { durable: isNews },
      );
    },
  };
}

type Cause = Pick<OutageRecord, "cause" | "causeRef" | "causeText">;

const unknown: Cause = { cause: "unknown", causeRef: undefined, causeText: "nothing was changed before" };

/** What was changed last before it went down, else how it died. */
async function causeOf(
  { client }: AlertParts,
  { app, now, isAsked }: { app: AppFact; now: number; isAsked: boolean },
): Promise<Cause> {
  if (!isAsked) return unknown;
  try {
    const { kind, scope, name } = app;
    const [first] = causesOf(await client.call(why, { query: { kind, scope, name } }), now);
    if (first === undefined) return unknown;
    const ref = first.ref ?? (first.kind === "deploy" ? app.release?.id : undefined);
    return { cause: first.kind, causeRef: ref, causeText: first.text };
  } catch {
    return unknown;
  }
}

/** Figures are of the last minute, and looks come more often: each minute counts once. */
function failedNow(outage: OutageRecord, { sites, now }: Facts, counted: Map<string, number>): number {
  const key = keyText(outage);
  if (now - (counted.get(key) ?? outage.from) < minuteMs) return 0;
  counted.set(key, now);
  const own = sites?.filter(({ scope, name }) => scope === outage.scope && name === outage.name) ?? [];
  return own.reduce((sum, { failed }) => sum + failed, 0);
}
