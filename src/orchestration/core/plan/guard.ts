import { formatPercent } from "../../../base/pure/percent.ts";
import type { Traffic } from "../../api/receipt.ts";
import type { GuardPolicy } from "../workload.ts";

/** What visitors saw of some replicas in the seconds that are watched; times in ms. */
type GuardFigures = Pick<Traffic, "requests" | "failed" | "p99_ms">;

interface GuardInput {
  /** Figures of the new release's replicas. */
  fresh: GuardFigures;
  /** Figures of the old replicas in the same seconds; undefined when none is left. */
  old: GuardFigures | undefined;
}

/** A p99 of fewer requests than this is the time of the slowest one. */
const slowRequestsMin = 100;

/**
 * Why a release has to go back, with the figures; undefined while it may go on. A limit is crossed when the new replicas
 * are past it and do worse than the old ones: what fails for both, such as a database that is down, is not the release.
 * Without enough requests to old replicas to compare with, more has to go wrong: one visitor who asks for a broken page
 * is not a bad release.
 */
export function guardFault(guard: GuardPolicy, { fresh, old }: GuardInput): string | undefined {
  if (fresh.requests === 0 || fresh.requests < guard.requestsMin) return undefined;
  return failuresFault(guard, fresh, old) ?? slownessFault(guard, fresh, old);
}

function failuresFault(guard: GuardPolicy, fresh: GuardFigures, old: GuardInput["old"]) {
  const { failedShareMax } = guard;
  const share = shareOf(fresh);
  if (failedShareMax === undefined || share <= failedShareMax || share <= shareOf(old)) return undefined;
  if (!isComparable(guard, old) && fresh.failed < guard.requestsMin) return undefined;
  const allowed = `${formatPercent(share)}, allowed ${formatPercent(failedShareMax)}`;
  return `${fresh.failed} of ${fresh.requests} requests failed (${allowed}; ${compared(old, formatPercent(shareOf(old)))})`;
}

function slownessFault(guard: GuardPolicy, fresh: GuardFigures, old: GuardInput["old"]) {
  const { p99MsMax } = guard;
  const { p99_ms: p99 = 0, requests } = fresh;
  if (p99MsMax === undefined || p99 <= p99MsMax || p99 <= (old?.p99_ms ?? 0)) return undefined;
  if (!isComparable(guard, old) && requests < slowRequestsMin) return undefined;
  return `p99 of ${requests} requests is ${p99} ms (allowed ${p99MsMax} ms; ${compared(old, `${old?.p99_ms ?? 0} ms`)})`;
}

function isComparable({ requestsMin }: GuardPolicy, old: GuardInput["old"]): boolean {
  return old !== undefined && old.requests >= requestsMin;
}

function compared(old: GuardInput["old"], figure: string): string {
  return old === undefined || old.requests === 0 ? "no requests to old replicas" : `old replicas ${figure}`;
}

function shareOf(figures: GuardFigures | undefined): number {
  return figures === undefined || figures.requests === 0 ? 0 : figures.failed / figures.requests;
}
