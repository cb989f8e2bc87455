import type { TrafficOf } from "../../src/orchestration/controller/rollout/receipts.ts";
import type { World } from "./world.ts";

/** What a version answers: the share of requests that fail, and the time that each takes. */
export interface Answers {
  share?: number;
  ms?: number;
}

interface Visit {
  at: number;
  container: string;
  failed: boolean;
  ms: number;
}

const perSecond = 5;

/**
 * Visitors of a world who send five requests a second to each replica; what they get depends on the replica's
 * environment variable V.
 */
export function simulatedVisitors(answersOf: (version: string) => Answers) {
  const visits: Visit[] = [];
  let due = 0;
  const trafficOf: TrafficOf = (_, { from, to, containers }) => {
    const seen = visits.filter(({ at, container }) => at >= from && at <= to && (containers?.has(container) ?? true));
    const times = seen.map(({ ms }) => ms).sort((a, b) => a - b);
    const p99_ms = times[Math.ceil(times.length * 0.99) - 1];
    const failed = seen.filter((visit) => visit.failed).length;
    return { requests: seen.length, failed, ...(p99_ms === undefined ? {} : { p99_ms }) };
  };

  function visit(at: number, container: string, { share = 0, ms = 10 }: Answers): void {
    due += share;
    const failed = due >= 1;
    if (failed) due -= 1;
    visits.push({ at, container, failed, ms });
  }

  return {
    trafficOf,
    /** As when the server ends: it keeps figures in memory. */
    forget: () => void visits.splice(0),
    /** Lets time pass while visitors send requests; `look` is called after each second. */
    async pass(it: World, seconds: number, look: () => void = () => undefined): Promise<void> {
      for (let second = 0; second < seconds; second++) {
        const serving = it.runtime.containers().filter(({ state }) => state === "running");
        for (const { id, env } of serving) {
          for (let count = 0; count < perSecond; count++) visit(it.clock.now(), id, answersOf(env.V ?? ""));
        }
        await it.advance(1_000);
        look();
      }
    },
  };
}
