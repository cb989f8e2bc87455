import { addRequest, createFigures, type Figures, mergeFigures, type RequestSeen } from "./figures.ts";

/** Figures of the last minutes, second by second, per site and replica. */
export interface Recent {
  record(seen: RequestSeen): void;
  /** Sums of the seconds from `from` up to, not including, `to` (epoch milliseconds). */
  between(question: Question): Figures;
  /** Sites with a request in the time kept. */
  sites(): string[];
}

export interface Question {
  /** Undefined: all sites. */
  site?: string;
  /** Only requests that one of these containers answered; undefined: all. */
  upstreams?: ReadonlySet<string>;
  from: number;
  to: number;
}

interface RecentOptions {
  secondsKept: number;
  /** Of one second of one site: requests of further replicas are counted without the replica. */
  upstreamsMax: number;
}

/** Container id, or "" where none answered → figures. */
type Second = Map<string, Figures>;

export function createRecent({ secondsKept, upstreamsMax }: RecentOptions): Recent {
  const bySite = new Map<string, Map<number, Second>>();
  let newest = 0;

  function forgetOld(): void {
    for (const [site, seconds] of bySite) {
      for (const second of seconds.keys()) {
        if (second > newest - secondsKept) break;
        seconds.delete(second);
      }
      if (seconds.size === 0) bySite.delete(site);
    }
  }

  return {
    record(seen) {
      const second = Math.floor(seen.at / 1_000);
      if (second <= newest - secondsKept) return;
      if (second > newest) {
        newest = second;
        forgetOld();
      }
      const seconds = getOr(bySite, seen.site, () => new Map<number, Second>());
      const upstreams = getOr(seconds, second, (): Second => new Map());
      const key = upstreams.has(seen.upstream ?? "") || upstreams.size < upstreamsMax ? (seen.upstream ?? "") : "";
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
