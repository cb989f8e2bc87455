import type { PodEndpoint } from "../../orchestration/api/pod-endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createBackoff } from "../../base/words/backoff.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { Certificates } from "../certs/create.ts";
import { askedCertificates } from "../core/certificates/asked.ts";
import { hasOnDemand, type OnDemandRules, onDemandRules } from "../core/certificates/on-demand.ts";
import type { IngressManifest } from "../core/ingress-spec.ts";
import { shared } from "../core/remember.ts";
import { type Rest, type SiteProblem, type SitesInput, sitesOf } from "../core/sites.ts";
import type { Challenge, Listen, Site, Table } from "../core/table.ts";
import { createTurns } from "./turns.ts";
import type { ProxySource } from "./usable-proxy.ts";

/** What the ingress is made from; handed in by the daemon. */
export interface IngressSource extends Pick<SitesInput, "serviceKinds" | "planes"> {
  ingresses(): IngressManifest[];
  /** Undefined until the engine was asked once: then the proxy goes on with what it has. */
  endpoints(): PodEndpoint[] | undefined;
  /** Told when any of it may have changed. Returns the way to leave. */
  subscribe(listener: () => void): () => void;
  /** Whether a deployment that requests wake is asleep, and since when that is so; undefined for every other. */
  sleepOf?(scope: string, name: string): { asleep: boolean; since: number } | undefined;
}

interface IngressOptions {
  source: IngressSource;
  certificates: Pick<Certificates, "wanted" | "current" | "onChange">;
  /** Where the proxy is, as far as HAProxy can be used. */
  proxy: ProxySource;
  listen: Listen;
  /** TCP ports of the machine that the server itself has, and what for. */
  ownPorts: ReadonlyMap<number, string>;
  clock: SteadyClock;
  log: Log;
  limits: IngressLimits;
}

interface IngressLimits {
  /** Changes within this time are one change of the proxy. */
  gatherMs: number;
  /** How long a rollout waits for the proxy to take a replica in or out. */
  caughtUpMs: number;
  backoffFirstMs: number;
  backoffMaxMs: number;
  /** The table is computed again at least this often. */
  resyncMs: number;
  /** How long requests wait for an app that one of them woke. */
  wakeHoldMs: number;
}

/** Routes requests: keeps the proxy's table at what manifests, replicas and certificates say. */
export interface Ingress {
  /** For rollouts: whether the running proxy leads to this container, also where it cannot be changed at present. */
  serves(containerId: string): boolean;
  /** For rollouts: whether requests should be sent to this container, and the proxy that ran before has not taken that over. */
  lacks(containerId: string): boolean;
  /**
   * For rollouts: resolves with true once the proxy serves everything that was so when this was called; with false when
   * it does not take that over, or runs no more.
   */
  caughtUp(signal: AbortSignal): Promise<boolean>;
  /** For rollouts: whether a replica (container id) that leaves still serves what it began. */
  isBusy(containerId: string): Promise<boolean>;
  /** Answers to the challenges of certificate authorities. */
  challenges: { set(token: string, keyAuthorization: string): Promise<void>; clear(token: string): Promise<void> };
  state(): IngressState;
  /** Lets the proxy reload its files. */
  reload(): Promise<void>;
  /** Ends the proxy; it stays away until `reload` or the next start of the server. */
  stop(): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

/** What the ingress did last. */
export interface IngressState {
  /** The newest table that the proxy has taken; undefined before the first. */
  table: Table | undefined;
  problems: SiteProblem[];
  /** Sites that cannot be written into the proxy's files. */
  refused: { site: string; problem: string }[];
  /** Why the proxy does not serve, or serves an older table; undefined when all is well. */
  problem: string | undefined;
  isStopped: boolean;
}

export function createIngress(options: IngressOptions): Ingress {
  const { source, certificates, clock, log, limits } = options;
  const proxyNow = () => options.proxy.usable()?.proxy;
  const challenges = new Map<string, Challenge>();
  const state: IngressState = {
    table: undefined,
    problems: [],
    refused: [],
    problem: undefined,
    isStopped: false,
  };
  const turns = createTurns(clock);
  /** The table that the proxy was given last, whether it took it or not. */
  let wanted: Table | undefined;
  /** Why the files are older than what the proxy serves. */
  let unwritten: string | undefined;
  /** Whether a proxy ran when it did not take the last table. */
  let isUp = false;
  let asked: { ingresses: readonly IngressManifest[]; rules: OnDemandRules; at: number } | undefined;

  /** False while too little is known to touch the proxy. */
  async function update(): Promise<boolean> {
    const proxy = proxyNow();
    const endpoints = source.endpoints();
    if (proxy === undefined || endpoints === undefined || state.isStopped) return false;
    const ingresses = source.ingresses();
    const rules = askFor(ingresses);
    const { serviceKinds, planes } = source;
    const { wakeHoldMs } = limits;
    const sites = { ingresses, endpoints, serviceKinds, planes, restOf, wakeHoldMs, ownPorts: options.ownPorts };
    const found = sitesOf(sites);
    const table: Table = {
      listen: options.listen,
      sites: shared(state.table?.sites ?? [], found.sites),
      tcp: shared(state.table?.tcp ?? [], found.tcp),
      certificates: certificates.current(),
      challenges: [...challenges.values()],
      ...(hasOnDemand(rules) ? { onDemand: true } : {}),
    };
    wanted = table;
    const { refused, reloadReasons, unwritten: older } = await proxy.apply(table);
    if (older !== undefined && older !== unwritten) log.warn("files of the ingress proxy are old", { error: older });
    unwritten = older;
    Object.assign(state, { table, problems: found.problems, refused, problem: undefined });
    if (reloadReasons.length > 0) log.debug("ingress proxy was loaded", { reasons: reloadReasons });
    return true;
  }

  /** The certificates hear of the ingresses when these are others than last time, and now and then. */
  function askFor(ingresses: readonly IngressManifest[]): OnDemandRules {
    const isFresh = asked !== undefined && clock.steady() - asked.at < limits.resyncMs;
    if (asked !== undefined && isFresh && areSame(asked.ingresses, ingresses)) return asked.rules;
    const rules = onDemandRules(ingresses);
    certificates.wanted(askedCertificates(ingresses), rules);
    asked = { ingresses, rules, at: clock.steady() };
    return rules;
  }

  /** One that was woken and does not come up is treated like any other after a while. */
  function restOf(scope: string, name: string): Rest | undefined {
    const state = source.sleepOf?.(scope, name);
    if (state?.asleep === true) return "asleep";
    const awakeMs = state === undefined ? -1 : clock.now() - state.since;
    return awakeMs >= 0 && awakeMs < limits.wakeHoldMs ? "waking" : undefined;
  }

  async function work(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ firstMs: limits.backoffFirstMs, maxMs: limits.backoffMaxMs, random: Math.random });
    while (!signal.aborted) {
      const turn = turns.begin();
      let pauseMs = limits.resyncMs;
      try {
        if (await update()) turn.done();
        if (unwritten === undefined) backoff.reset();
        else pauseMs = backoff.next();
      } catch (error) {
        pauseMs = backoff.next();
        const problem = error instanceof Failure ? error.message : "internal error, the log says why";
        if (state.problem !== problem) log.error("ingress proxy not changed", { error });
        isUp =
          (await proxyNow()
            ?.pid()
            .catch(() => undefined)) !== undefined;
        state.problem = problem;
        turn.failed();
        // A rollout that waits asks again and again, and each try writes files.
        await clock.sleep(limits.backoffFirstMs, signal);
      }
      await turns.next(pauseMs, signal);
      await clock.sleep(limits.gatherMs, signal);
    }
  }

  const changed = async (): Promise<void> => {
    if (!(await turns.caughtUp(limits.caughtUpMs, new AbortController().signal))) {
      throw new Failure("unavailable", `proxy: ${state.problem ?? "it did not take the change in time"}`);
    }
  };

  return {
    serves: (containerId) => isBeginning() || servedBy(taken()).has(containerId),
    lacks(containerId) {
      const led = taken();
      // A proxy that has never run, because its port is taken, say, leads nowhere that could be lost.
      return led !== undefined && servedBy(wanted).has(containerId) && !servedBy(led).has(containerId);
    },
    caughtUp: (signal) => (isThere() ? turns.caughtUp(limits.caughtUpMs, signal) : Promise.resolve(false)),
    isBusy: async (containerId) =>
      isServing() ? ((await proxyNow()?.isBusy(new Set([containerId]))) ?? false) : false,
    challenges: {
      async set(token, keyAuthorization) {
        challenges.set(token, { token, keyAuthorization });
        await changed();
      },
      async clear(token) {
        if (challenges.delete(token)) await changed();
      },
    },
    state: () => (proxyNow() === undefined ? { ...state, problem: options.proxy.problem() } : state),
    async reload() {
      const proxy = proxyNow();
      if (proxy === undefined) throw new Failure("unavailable", options.proxy.problem() ?? notYet);
      const wasStopped = state.isStopped;
      state.isStopped = false;
      await changed();
      if (!wasStopped) await proxy.reload();
    },
    async stop() {
      state.isStopped = true;
      await proxyNow()?.stop(stopGraceMs);
    },
    async run(signal) {
      const proxy = await options.proxy.found(signal);
      if (proxy === undefined) return;
      const leave = [source.subscribe(turns.wake), certificates.onChange(turns.wake)];
      await Promise.all([work(signal), proxy.run(signal)]);
      for (const one of leave) one();
    },
  };

  function isThere(): boolean {
    return proxyNow() !== undefined && !state.isStopped;
  }

  /** What the running proxy leads to; where its state on disk was lost, that is what it should. */
  function taken(): Table | undefined {
    if (!isThere()) return undefined;
    return proxyNow()?.running()?.table ?? state.table ?? (isUp ? wanted : undefined);
  }

  /** The proxy may still serve what the last server told it, until this server has given it the first table. */
  function isBeginning(): boolean {
    return proxyNow() !== undefined && state.table === undefined && state.problem === undefined && !state.isStopped;
  }

  function isServing(): boolean {
    return proxyNow() !== undefined && state.table !== undefined && state.problem === undefined && !state.isStopped;
  }
}

/** The very same specs: the store keeps them until another one is written. */
function areSame(before: readonly IngressManifest[], now: readonly IngressManifest[]): boolean {
  const isSame = ({ scope, name, spec }: IngressManifest, index: number) => {
    const was = before[index];
    return was?.spec === spec && was.scope === scope && was.name === name;
  };
  return before.length === now.length && now.every(isSame);
}

const served = new WeakMap<Table, ReadonlySet<string>>();

/** Ids of the upstreams of a table. */
function servedBy(table: Table | undefined): ReadonlySet<string> {
  if (table === undefined) return new Set();
  const known = served.get(table) ?? new Set([...table.sites, ...table.tcp].flatMap(idsOf));
  served.set(table, known);
  return known;
}

function idsOf({ upstreams }: Pick<Site, "upstreams">): string[] {
  return upstreams.map(({ id }) => id);
}

const stopGraceMs = 10_000;
const notYet = "HAProxy is still being fetched; see: berth ingress status";
