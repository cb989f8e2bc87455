import type { TrafficOf } from "../../src/orchestration/controller/state/receipts.ts";
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
 * environment variable V. With `byWeight` they send 100 requests a second in all, as an ingress shares them out.
 */
export function simulatedVisitors(answersOf: (version: string) => Answers, { byWeight = false } = {}) {
  const visits: Visit[] = [];
  const owed = new Map<string, number>();
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

  /** Requests of this second to one container; what is left of a request is sent later. */
  function countOf(it: World, id: string): number {
    const ready = (it.running.endpoints.list() ?? []).filter((endpoint) => endpoint.ready);
    const all = ready.reduce((sum, { weight = 100 }) => sum + weight, 0);
    const mine = ready.find((endpoint) => endpoint.id === id);
    if (mine === undefined) return 0;
    const exact = (owed.get(id) ?? 0) + (100 * (mine.weight ?? 100)) / all;
    owed.set(id, exact % 1);
    return Math.floor(exact);
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
          const count = byWeight ? countOf(it, id) : perSecond;
          for (let sent = 0; sent < count; sent++) visit(it.clock.now(), id, answersOf(env.V ?? ""));
        }
        await it.advance(1_000);
        look();
      }
    },
  };
}
