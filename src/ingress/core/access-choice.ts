import type { AccessLine } from "./access-line.ts";
import type { Place } from "./figures/attribution.ts";

/** Says which requests are written to the access log. */
type AccessChoice = (line: Pick<AccessLine, "status" | "at">, place: Pick<Place, "site" | "accessLog">) => boolean;

/**
 * `all`: every request. `sampled`: the first few of each second of an ingress, and every answer of 500 and above, so
 * that the request id on an error page is found.
 */
export function createAccessChoice(sampledPerSecond: number): AccessChoice {
  let second = 0;
  const chosen = new Map<string, number>();

  return ({ status, at }, { site, accessLog }) => {
    if (accessLog === "off") return false;
    if (accessLog === "all" || (status !== undefined && status >= 500)) return true;
    const now = Math.floor(at / 1_000);
    if (now !== second) {
      second = now;
      chosen.clear();
    }
    const count = (chosen.get(site) ?? 0) + 1;
    chosen.set(site, count);
    return count <= sampledPerSecond;
  };
}
