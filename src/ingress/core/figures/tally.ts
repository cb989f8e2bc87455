import { addRequest, createFigures, type Figures, type RequestSeen } from "./figures.ts";

/** Figures since they were last taken, by site and host. */
export interface Tally {
  add(seen: RequestSeen, host: string | undefined): void;
  /** What was counted since the last time; counting begins again at nothing. */
  take(): { site: string; host: string; figures: Figures }[];
}

const others = "other";

/** `hostsMax`: of one site; a wildcard site can be asked for any host. */
export function createTally(hostsMax: number): Tally {
  let bySite = new Map<string, Map<string, Figures>>();
  return {
    add(seen, host = "") {
      const hosts = bySite.get(seen.site) ?? new Map<string, Figures>();
      bySite.set(seen.site, hosts);
      const name = hosts.has(host) || hosts.size < hostsMax ? host : others;
      const figures = hosts.get(name) ?? createFigures();
      hosts.set(name, figures);
      addRequest(figures, seen);
    },
    take() {
      const taken = [...bySite].flatMap(([site, hosts]) =>
        [...hosts].map(([host, figures]) => ({ site, host, figures })),
      );
      bySite = new Map();
      return taken;
    },
  };
}
