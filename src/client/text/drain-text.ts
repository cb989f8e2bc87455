import type { Drain } from "../../observability/api/log-drains.ts";
import { ageOf } from "./time-text.ts";

const dayMs = 86_400_000;
/** What waits for less is on its way. */
const behindMs = 5 * 60_000;

/** Drains that an operator has to look at, with what is wrong in a line. */
export function troubledDrains(drains: readonly Drain[], now: number): { name: string; state: string; text: string }[] {
  return drains.flatMap((drain) => {
    const { name, state, oldest_waiting_at: oldest, last_error: error, last_refused: refused } = drain;
    const isBehind = oldest !== undefined && Date.parse(oldest) < now - behindMs;
    const isRefused = refused !== undefined && Date.parse(refused.at) > now - dayMs;
    if (state !== "failing" && !isBehind && !isRefused) return [];
    const parts = [
      ...(oldest === undefined ? [] : [`${ageOf(oldest, now)} behind`]),
      ...(error === undefined ? [] : [error]),
      ...(isRefused ? [refusedText(drain)] : []),
    ];
    return [{ name, state, text: parts.join("; ") }];
  });
}

/** How many lines the other side did not take; empty for none. */
export function refusedText({ refused_lines: lines, last_refused: last }: Drain): string {
  if (lines === 0) return "";
  const from = last === undefined ? "" : `, the last of ${last.app}: ${last.result}`;
  return `${lines} ${lines === 1 ? "line was" : "lines were"} refused and left out${from}`;
}
