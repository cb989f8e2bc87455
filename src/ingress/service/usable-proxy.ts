import { createBackoff } from "../../base/words/backoff.ts";
import type { Clock } from "../../base/words/clock.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";
import type { IngressProxy } from "../proxy/proxy.ts";

export interface UsableProxy {
  proxy: IngressProxy;
  /** Version of HAProxy. */
  version: string;
  /** What it runs from where it is not installed. */
  image?: string;
}

/** HAProxy as far as this machine has one, now or later. */
export interface ProxySource {
  /** Undefined until it can be used. */
  usable(): UsableProxy | undefined;
  /** Why there is none; undefined when there is one, or will be. */
  problem(): string | undefined;
  /** `off`: there will be none. `waiting`: nothing asks for it yet. `starting`: it is fetched. */
  state(): "off" | "unavailable" | "waiting" | "starting" | "usable";
  /** Resolves once it can be used; with undefined when there will be none, or `signal` aborts. */
  found(signal: AbortSignal): Promise<IngressProxy | undefined>;
}

/** One that is there, or that never will be. */
export function fixedProxy(
  usable: UsableProxy | undefined,
  { problem, isOff = false }: { problem?: string | undefined; isOff?: boolean } = {},
): ProxySource {
  const none = isOff ? "off" : "unavailable";
  return {
    usable: () => usable,
    problem: () => (usable === undefined ? problem : undefined),
    state: () => (usable === undefined ? none : "usable"),
    found: async () => usable?.proxy,
  };
}

interface LaterProxyOptions {
  /** Fetches it, which can take minutes. */
  open(): Promise<UsableProxy>;
  /** Whether anything needs it. */
  isWanted(): boolean;
  /** After a failure: what the machine's operator can do. */
  advice: string;
  clock: Clock;
  log: Log;
  limits: { lookMs: number; firstMs: number; maxMs: number };
}

/** One that is fetched when something first needs it. */
export function laterProxy(options: LaterProxyOptions): ProxySource {
  const { open, isWanted, advice, clock, log, limits } = options;
  let usable: UsableProxy | undefined;
  let problem: string | undefined;
  let isOpening = false;

  async function attempt(): Promise<void> {
    isOpening = true;
    try {
      usable = await open();
      problem = undefined;
    } catch (error) {
      const why = error instanceof Failure || error instanceof Error ? error.message : String(error);
      if (problem === undefined) log.warn("ingresses are not served", { problem: why });
      problem = `${why}; ${advice}`;
    } finally {
      isOpening = false;
    }
  }

  return {
    usable: () => usable,
    problem: () => problem,
    state() {
      if (usable !== undefined) return "usable";
      if (problem !== undefined) return "unavailable";
      return isOpening || isWanted() ? "starting" : "waiting";
    },
    async found(signal) {
      const backoff = createBackoff({ ...limits, random: Math.random });
      while (!signal.aborted && usable === undefined) {
        if (isWanted()) await attempt();
        if (usable === undefined) await clock.sleep(problem === undefined ? limits.lookMs : backoff.next(), signal);
      }
      return usable?.proxy;
    },
  };
}
