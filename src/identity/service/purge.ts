import { createBelievedTime } from "../../base/words/believed-time.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { IdentityContext } from "./context.ts";
import { allInstances } from "./manage/context.ts";
import { dropAbandoned } from "./sign-up-finish.ts";

type Task = (nouns: IdentityNouns) => number;

/** Removes what has run out at `now` or is beyond its bound; resolves with the number of rows that went. */
export async function purge(
  { store, limits }: Pick<IdentityContext, "store" | "limits">,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  const { rowsMax, endedSessionsMs, revokedSessionsKept, mailsMs, changesKept } = limits.purge;
  const tasks: Task[] = [
    (nouns) => dropAbandoned(nouns, now, rowsMax),
    (nouns) => nouns.purge.expired(now, rowsMax),
    (nouns) => nouns.purge.endedSessions(now - endedSessionsMs, rowsMax),
    (nouns) => nouns.purge.mails(now - mailsMs, rowsMax),
    (nouns) => nouns.audit.trim(allInstances.seq, limits.auditKept, rowsMax),
    ...store.instances
      .list()
      .flatMap(({ seq }): Task[] => [
        (nouns) => nouns.audit.trim(seq, limits.auditKept, rowsMax),
        (nouns) => nouns.purge.revokedSessions(seq, revokedSessionsKept, rowsMax),
      ]),
    (nouns) => nouns.webhookDeliveries.trim(limits.deliveriesKept),
    (nouns) => nouns.searchChanges.trim(changesKept),
  ];
  let gone = 0;
  for (const task of tasks) {
    // A few rows at a time: a sign-in meanwhile waits for one such write, not for all of them.
    for (let more = true; more && !signal.aborted;) {
      const count = await store.write(task, { durable: false });
      gone += count;
      more = count >= rowsMax;
    }
  }
  return gone;
}

/** The same again and again, until `signal` aborts. */
export async function runPurge(context: IdentityContext, signal: AbortSignal): Promise<void> {
  const { clock, log, limits } = context;
  const { clockJumpMs: jumpMs, clockHoldMs: holdMs } = limits.purge;
  const believed = createBelievedTime(clock, { jumpMs, holdMs });
  while (!signal.aborted) {
    await clock.sleep(limits.purge.everyMs, signal);
    if (signal.aborted) return;
    try {
      const rows = await purge(context, believed(), signal);
      if (rows > 0) log.debug("identity rows purged", { rows });
    } catch (error) {
      log.error("identity rows not purged", { error });
    }
  }
}
