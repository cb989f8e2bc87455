import type { Answered } from "../../api/failed-share.ts";
import { addRequest, createFigures, type Figures, mergeFigures, type RequestSeen } from "./figures.ts";

/** Figures of the last minutes, second by second, per site and replica. */
interface Recent {
  record(seen: RequestSeen): void;
  /** Sums of the seconds from `from` up to, not including, `to` (epoch milliseconds). */
  between(question: Question): Figures;
  /** The same, without times of answers, which take long to add up. */
  answered(site: string, span: { from: number; to: number }): Answered;
  /** Sites with a request in the time kept. */
  sites(): string[];
}

interface Question {
  /** Undefined: all sites. */
  site?: string;
  /** Only requests that one of these containers answered; undefined: all. */
  upstreams?: ReadonlySet<string>;
  from: number;
  to: number;
}

interface RecentOptions {
  secondsKept: number;
  /** Sums kept, one for each second, site and replica; beyond it, the oldest seconds go. */
  sumsMax: number;
  /** Replicas that one second of one site counts: requests of further ones are counted without the replica. */
  upstreamsMax: number;
}

/** Container id, or "" where none answered → figures. */
type Second = Map<string, Figures>;

export function createRecent({ secondsKept, sumsMax, upstreamsMax }: RecentOptions): Recent {
  const bySite = new Map<string, Map<number, Second>>();
  let newest = 0;
  /** Seconds up to this one are forgotten. */
  let floor = 0;
  let sums = 0;

  function forgetOld(): void {
    floor = Math.max(floor, newest - secondsKept);
    forgetBelow();
    while (sums > sumsMax && floor < newest - 1) {
      floor += Math.ceil((newest - floor) / 8);
      forgetBelow();
    }
  }

  function forgetBelow(): void {
    for (const [site, seconds] of bySite) {
      // Lines come a little out of order, so that the oldest second need not be the first.
      for (const [second, parts] of seconds) {
        if (second > floor) continue;
        sums -= parts.size;
        seconds.delete(second);
      }
      if (seconds.size === 0) bySite.delete(site);
    }
  }

  return {
    record(seen) {
      const second = Math.floor(seen.at / 1_000);
      if (second <= floor) return;
      if (second > newest) {
        newest = second;
        forgetOld();
      }
      const seconds = getOr(bySite, seen.site, () => new Map<number, Second>());
      const upstreams = getOr(seconds, second, (): Second => new Map());
      const key = upstreams.has(seen.upstream ?? "") || upstreams.size < upstreamsMax ? (seen.upstream ?? "") : "";
      if (!upstreams.has(key)) sums += 1;
      addRequest(getOr(upstreams, key, createFigures), seen);
    },
    between({ site, upstreams, from, to }) {
      const sum = createFigures();
      const chosen = site === undefined ? [...bySite.values()] : [bySite.get(site) ?? new Map<number, Second>()];
      const first = Math.floor(from / 1_000);
      const end = Math.ceil(to / 1_000);
      for (const seconds of chosen) {
        for (const [second, parts] of seconds) {
          if (second < first || second >= end) continue;
          for (const [upstream, figures] of parts) {
            if (upstreams === undefined || upstreams.has(upstream)) mergeFigures(sum, figures);
          }
        }
      }
      return sum;
    },
    answered(site, { from, to }) {
      const sum = { requests: 0, failed: 0 };
      for (const [second, parts] of bySite.get(site) ?? []) {
        if (second < Math.floor(from / 1_000) || second >= Math.ceil(to / 1_000)) continue;
        for (const { requests, failed } of parts.values()) {
          sum.requests += requests;
          sum.failed += failed;
        }
      }
      return sum;
    },
    sites: () => [...bySite.keys()].sort(),
  };
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
