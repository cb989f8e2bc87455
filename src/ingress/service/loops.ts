import type { Running } from "../core/change.ts";

/** Ingresses whose visitors are redirected to https for ever, because a proxy in front fetches http for them. */
export interface Loops {
  /** Takes the lines of the proxy about such requests. False for every other line. */
  take(line: string): boolean;
  /** The warning for an ingress; undefined while nothing hints at a loop. */
  problem(id: string): string | undefined;
}

interface LoopsOptions {
  /** What the proxy serves now. */
  running(): Running | undefined;
  now(): number;
  limits: {
    /** Lines of one ingress until it is a loop: single clients may claim what they like. */
    loopLines: number;
    /** How long after the last line the warning stays. */
    loopKeptMs: number;
  };
}

interface Seen {
  count: number;
  at: number;
  client: string;
}

export function createLoops({ running, now, limits }: LoopsOptions): Loops {
  const seen = new Map<string, Seen>();
  const recent = (id: string) => {
    const one = seen.get(id);
    return one !== undefined && now() - one.at < limits.loopKeptMs ? one : undefined;
  };
  return {
    take(text) {
      const [word, backend, client, ...more] = text.trimEnd().split(" ");
      if (word !== "loop" || backend === undefined || client === undefined || more.length > 0) return false;
      const { backends = {} } = running()?.assignment ?? {};
      const id = Object.keys(backends).find((site) => backends[site] === backend);
      if (id !== undefined) seen.set(id, { count: (recent(id)?.count ?? 0) + 1, at: now(), client });
      return true;
    },
    problem(id) {
      const one = recent(id);
      if (one === undefined || one.count < limits.loopLines) return undefined;
      return (
        `https_redirect: visitors seem to be redirected for ever: ${one.client} sends their https requests over http. ` +
        "If it is your CDN, let it connect over https, or list its networks in --ingress-trusted-proxies"
      );
    },
  };
}
