import { Failure } from "../../base/wire/failure.ts";
import { pauseAfter } from "../core/certificates/renewal.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { type PluginRoute, type PluginRoutesInput, pluginRoutes } from "../core/plugin-route.ts";
import type { Upstream } from "../core/table.ts";
import type { HeldRoute, HeldRoutes } from "../proxy/plugin-routes-file.ts";
import type { IngressSource } from "./create.ts";
import { createTurns } from "./turns.ts";

/** Runs a command of a plugin and resolves with the data of its envelope. Fails with what the plugin said. */
type RunPlugin = (call: {
  plugin: string;
  command: "apply" | "remove";
  app: string;
  env: Record<string, string>;
}) => Promise<Record<string, unknown>>;

/** How an ingress with a plugin is doing. */
export interface PluginRouteState {
  plugin: string;
  /** What the plugin answered last. */
  data: Record<string, unknown> | undefined;
  /** The replicas that it was given last. */
  upstreams: Upstream[];
  problems: string[];
}

/** The ingresses that plugins route: each plugin is called when something changes for it. */
export interface PluginRouting {
  /** Undefined for an ingress without a plugin. */
  of(id: string): PluginRouteState | undefined;
  /** For rollouts: whether a plugin sends requests to this container. */
  serves(containerId: string): boolean;
  /** For rollouts: resolves once every plugin was called for all that was so when this was called. */
  caughtUp(signal: AbortSignal): Promise<void>;
  /** The installed plugins are others. */
  pluginsChanged(): void;
  /** Calls every plugin again, for example after its proxy lost its state. False when there is none to call. */
  reload(): boolean;
  run(signal: AbortSignal): Promise<void>;
}

/** The plugins that are installed. */
export interface RoutingPlugins {
  /** Looks at them again. */
  refresh(): Promise<void>;
  /** Why this one cannot route, as of the last look; undefined where it can. */
  faultOf(plugin: string): string | undefined;
  run: RunPlugin;
}

interface PluginRoutingOptions {
  source: IngressSource & Pick<PluginRoutesInput, "serviceSpec">;
  prefix: string;
  plugins: RoutingPlugins;
  held: HeldRoutes;
  /** The state of an ingress (its id) is another. */
  onChange: (id: string) => void;
  clock: SteadyClock;
  log: Log;
  limits: {
    pluginGatherMs: number;
    caughtUpMs: number;
    pluginPauses: { firstMs: number; maxMs: number };
    resyncMs: number;
  };
}

interface Known {
  plugin: string;
  applied?: { digest: string; data: Record<string, unknown>; upstreams: Upstream[] };
  trouble?: { digest: string; failures: number; nextTryAt: number; text: string };
}

export function createPluginRouting(options: PluginRoutingOptions): PluginRouting {
  const { source, plugins, clock, log, limits } = options;
  const known = new Map<string, Known>();
  let held: HeldRoute[] = [];
  let problems: ReturnType<typeof pluginRoutes>["problems"] = [];
  /** Plugin → why it cannot route, as of the last turn. */
  let faults = new Map<string, string>();
  const removals = new Map<string, { failures: number; nextTryAt: number }>();
  const turns = createTurns(clock);

  /** When the route is due on the steady clock; undefined: it is as it should be. */
  function dueAt({ id, plugin, digest }: PluginRoute): number | undefined {
    if (faults.has(plugin)) return undefined;
    const one = known.get(id);
    if (one?.plugin !== plugin) return 0;
    if (one.trouble?.digest === digest) return one.trouble.nextTryAt;
    return one.applied?.digest === digest ? undefined : 0;
  }

  async function applyRoute(route: PluginRoute): Promise<void> {
    const { id, plugin, app, env, digest, upstreams } = route;
    const before = known.get(id);
    const one: Known = before?.plugin === plugin ? before : { plugin };
    known.set(id, one);
    await hold({ id, plugin, app });
    try {
      const data = await plugins.run({ plugin, command: "apply", app, env });
      known.set(id, { plugin, applied: { digest, data, upstreams } });
    } catch (error) {
      const text = error instanceof Failure ? error.message : "internal error: see the log of the server";
      const failures = (one.trouble?.digest === digest ? one.trouble.failures : 0) + 1;
      const pauseMs = pauseAfter({ failures, ...limits.pluginPauses, random: 0 });
      one.trouble = { digest, failures, nextTryAt: clock.steady() + pauseMs, text };
      if (failures === 1) log.warn("plugin did not take a route", { ingress: id, plugin, error });
    }
    options.onChange(id);
  }

  async function hold(route: HeldRoute): Promise<void> {
    if (held.some((one) => isSame(one, route))) return;
    held = [...held, route];
    await options.held.write(held);
  }

  async function removeRoute(route: HeldRoute): Promise<void> {
    const { id, plugin, app } = route;
    const key = `${plugin} ${id}`;
    try {
      await plugins.run({ plugin, command: "remove", app, env: { [`${options.prefix}_APP`]: app } });
    } catch (error) {
      const isGone = error instanceof Failure && error.code === "not_found";
      const failures = (removals.get(key)?.failures ?? 0) + 1;
      if (!isGone) {
        const pauseMs = pauseAfter({ failures, ...limits.pluginPauses, random: 0 });
        removals.set(key, { failures, nextTryAt: clock.steady() + pauseMs });
        if (failures === 1) log.warn("plugin did not remove a route", { ingress: id, plugin, error });
        return;
      }
    }
    removals.delete(key);
    held = held.filter((one) => !isSame(one, route));
    await options.held.write(held);
  }

  /** Does what is due; resolves with the time until something more is, milliseconds. */
  async function update(signal: AbortSignal): Promise<number> {
    const endpoints = source.endpoints();
    if (endpoints === undefined) return limits.resyncMs;
    await plugins.refresh();
    const { serviceKinds, planes, serviceSpec } = source;
    const { prefix } = options;
    const ingresses = source.ingresses();
    const wanted = pluginRoutes({ ingresses, endpoints, serviceKinds, planes, serviceSpec, prefix });
    noteFaults(wanted);
    noteProblems(wanted);
    for (const route of wanted.routes) {
      const due = dueAt(route);
      if (due !== undefined && due <= clock.steady() && !signal.aborted) await applyRoute(route);
    }
    const isUnwanted = ({ id, plugin }: HeldRoute) => wanted.plugins.get(id) !== plugin;
    for (const route of held.filter(isUnwanted)) {
      const nextTryAt = removals.get(`${route.plugin} ${route.id}`)?.nextTryAt ?? 0;
      if (nextTryAt <= clock.steady() && !signal.aborted) await removeRoute(route);
    }
    const times = [
      ...wanted.routes.flatMap((route) => dueAt(route) ?? []),
      ...held.filter(isUnwanted).map(({ plugin, id }) => removals.get(`${plugin} ${id}`)?.nextTryAt ?? 0),
    ];
    return Math.min(limits.resyncMs, ...times.map((at) => Math.max(0, at - clock.steady())));
  }

  /** What a plugin had is not relied on once it is gone: when it is back, it is called for all of its ingresses. */
  function noteFaults(wanted: ReturnType<typeof pluginRoutes>): void {
    const before = faults;
    const found = [...new Set(wanted.plugins.values())].flatMap((plugin): [string, string][] => {
      const fault = plugins.faultOf(plugin);
      return fault === undefined ? [] : [[plugin, fault]];
    });
    faults = new Map(found);
    for (const [id, plugin] of wanted.plugins) {
      if (before.get(plugin) === faults.get(plugin)) continue;
      known.set(id, { plugin });
      options.onChange(id);
    }
  }

  function noteProblems(wanted: ReturnType<typeof pluginRoutes>): void {
    const textOf = (list: typeof problems, id: string) => list.find((one) => one.id === id)?.message;
    const before = problems;
    problems = wanted.problems;
    const all = new Map([...wanted.plugins, ...wanted.unserved]);
    for (const [id, plugin] of all) {
      const isNew = known.get(id)?.plugin !== plugin;
      if (isNew) known.set(id, { plugin });
      if (isNew || textOf(before, id) !== textOf(problems, id)) options.onChange(id);
    }
    for (const [id, plugin] of wanted.unserved) known.set(id, { plugin });
    for (const id of [...known.keys()]) if (!all.has(id)) known.delete(id);
  }

  return {
    of(id) {
      const one = known.get(id);
      if (one === undefined) return undefined;
      const { plugin, applied, trouble } = one;
      const fault = plugins.faultOf(plugin);
      if (fault !== undefined) return { plugin, data: undefined, upstreams: [], problems: [fault] };
      return {
        plugin,
        data: applied?.data,
        upstreams: applied?.upstreams ?? [],
        problems: [
          ...problems.filter((problem) => problem.id === id).map(({ message }) => message),
          ...(trouble === undefined ? [] : [trouble.text]),
        ],
      };
    },
    serves: (containerId) =>
      [...known.values()].some(({ applied }) => applied?.upstreams.some(({ id }) => id === containerId) === true),
    async caughtUp(signal) {
      if (known.size > 0) await turns.caughtUp(limits.caughtUpMs, signal);
    },
    pluginsChanged: turns.wake,
    reload() {
      for (const [id, { plugin }] of known) known.set(id, { plugin });
      turns.wake();
      return known.size > 0;
    },
    async run(signal) {
      held = await options.held.read();
      const leave = source.subscribe(turns.wake);
      while (!signal.aborted) {
        const turn = turns.begin();
        const pauseMs = await update(signal).catch((error: unknown) => {
          log.error("routes of plugins were not looked at", { error });
          return limits.resyncMs;
        });
        turn.done();
        await turns.next(pauseMs, signal);
        await clock.sleep(limits.pluginGatherMs, signal);
      }
      leave();
    },
  };
}

function isSame(one: HeldRoute, other: HeldRoute): boolean {
  return one.id === other.id && one.plugin === other.plugin;
}
