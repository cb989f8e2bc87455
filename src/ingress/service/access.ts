import type { AccessEntry } from "../api/access-log.ts";
import { createAccessChoice } from "../core/access-choice.ts";
import { accessEntry } from "../core/access-entry.ts";
import type { TrafficOptions } from "./traffic.ts";

interface AccessOptions {
  write(entry: AccessEntry): void;
  /** Epoch milliseconds. */
  now(): number;
  sampledPerSecond: number;
}

/** Writes the requests that their ingress wants in the access log. */
export function createAccess({ write, now, sampledPerSecond }: AccessOptions): TrafficOptions["onRequest"] {
  const isChosen = createAccessChoice(sampledPerSecond);
  let last = 0;
  return (line, place) => {
    if (!isChosen(line, place)) return;
    // Grows over restarts of the server, too, and when the clock is set back.
    last = Math.max(last + 1, now() * 1_000);
    write(accessEntry(line, place, last));
  };
}
