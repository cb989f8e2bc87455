import { createBroadcast } from "../../../base/words/broadcast.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import type { Log } from "../../../base/words/log.ts";
import type { AppFacts, AppWatch } from "../../../orchestration/api/app-facts.ts";
import { keyOf, keyText } from "../../../orchestration/api/manifest-key.ts";
import { type App, type AppProblem, type AppRef, appStates } from "../../api/app-model.ts";
import type { HostStrip } from "../../api/apps.ts";
import type { MetricsTick } from "../../api/stream.ts";
import type { NameOf } from "../../core/apps/activity.ts";
import { type Alarm, alarmProblems, causeText, isAboutApp } from "../../core/apps/alarms.ts";
import { shortened, sinceFirst, worstFirst } from "../../core/apps/problems.ts";
import { serverProblems } from "../../core/apps/server-problems.ts";
import { type AppJudgement, judge } from "../../core/apps/state.ts";
import { appView } from "../../core/apps/view.ts";
import type { EdgeReader } from "./edge.ts";
import type { Figures } from "./figures.ts";
import type { AppsLimits } from "./limits.ts";

/** What is known of one app at this moment. */
export interface KnownApp {
  facts: AppFacts;
  judgement: AppJudgement;
  app: App;
}

export type ModelChange =
  | { type: "app"; known: KnownApp }
  | { type: "gone"; ref: AppRef }
  /** News of an app came in, even if it looks as before. */
  | { type: "looked"; ref: AppRef }
  | { type: "problems"; engineUp: boolean; problems: readonly AppProblem[] }
  | { type: "metrics"; tick: MetricsTick };

/** One model of all apps for everything that shows them, moved along by what the platform tells. */
export interface AppModel {
  /** Takes in news that was not looked at yet; reads hosts, certificates and figures again where they are old. */
  fresh(): Promise<void>;
  /** The worst first. */
  list(): KnownApp[];
  get(ref: AppRef): KnownApp | undefined;
  /** Problems of all apps and of the server, the worst first. */
  problems(): readonly AppProblem[];
  /** Takes what the alerts say from now on. */
  alarm(alarms: readonly Alarm[]): void;
  engine(): ReturnType<AppWatch["engine"]>;
  host(): HostStrip | undefined;
  /** Told once per change, in order. Returns the way to leave. */
  subscribe(listener: (change: ModelChange) => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

interface ModelParts {
  watch: AppWatch;
  edge: EdgeReader;
  figures: Figures;
  host: () => HostStrip | undefined;
  /** Problems that other rooms know of. */
  noted: () => AppProblem[];
  nameOf: NameOf;
  clock: SteadyClock;
  log: Log;
  limits: AppsLimits;
}

export function createAppModel(parts: ModelParts): AppModel {
  const { watch, edge, figures, clock, limits } = parts;
  const changes = createBroadcast<ModelChange>((error) => parts.log.error("listener of apps failed", { error }));
  const known = new Map<string, KnownApp & { text: string }>();
  const dirty = new Map<string, AppRef>();
  let allDirty = true;
  let engineUp = watch.engine().up;
  let problems: readonly AppProblem[] = [];
  let problemsText = "";
  let alarms: readonly Alarm[] = [];
  let wake: () => void = () => undefined;

  watch.subscribe((key) => {
    if (key === undefined) allDirty = true;
    else dirty.set(keyText(key), keyOf(key));
    wake();
  });

  function look(ref: AppRef): void {
    const key = keyText(ref);
    const facts = watch.of(ref);
    if (facts === undefined) {
      if (known.delete(key)) changes.publish({ type: "gone", ref: keyOf(ref) });
      return;
    }
    const own = alarms.filter((alarm) => isAboutApp(alarm, ref));
    const failing = own.find(({ isOfVisitors }) => isOfVisitors);
    const troubled = failing === undefined ? undefined : causeText(failing);
    const judgement = judge(facts, { engineUp, now: clock.now() }, troubled);
    const before = known.get(key);
    const viewed = appView(facts, judgement, {
      hosts: edge.now.hosts.get(`${ref.scope}/${ref.name}`) ?? [],
      alarms: own,
      backup: edge.now.backups.get(key),
      traffic: undefined,
      usage: undefined,
      nameOf: parts.nameOf,
      locked: edge.now.locks.find(({ scope, name }) => scope === ref.scope && (name ?? ref.name) === ref.name)?.reason,
    });
    const app = { ...viewed, problems: sinceFirst(viewed.problems, before?.app.problems ?? []) };
    const text = JSON.stringify(app);
    const next = { facts, judgement, app, text };
    known.set(key, next);
    if (before?.text !== text) changes.publish({ type: "app", known: withFigures(next) });
    changes.publish({ type: "looked", ref: keyOf(ref) });
  }

  function withFigures({ facts, judgement, app }: KnownApp): KnownApp {
    const usage = figures.usageOf(app);
    const traffic = figures.trafficOf(app);
    const measured = {
      ...(usage === undefined ? {} : { usage }),
      ...(traffic === undefined ? {} : { traffic }),
    };
    return { facts, judgement, app: { ...app, ...measured } };
  }

  /** Everything that may be another than before, looked at in one go. */
  function catchUp(): void {
    const up = watch.engine().up;
    const now = clock.now();
    if (allDirty || up !== engineUp) {
      engineUp = up;
      allDirty = false;
      dirty.clear();
      const keys = watch.keys();
      const there = new Set(keys.map(keyText));
      for (const { app } of [...known.values()]) if (!there.has(keyText(app))) look(app);
      keys.forEach(look);
    } else {
      for (const { app, judgement } of known.values()) {
        if (judgement.recheckAt !== undefined && judgement.recheckAt <= now) dirty.set(keyText(app), keyOf(app));
      }
      const due = [...dirty.values()];
      dirty.clear();
      due.forEach(look);
    }
    tellProblems(now);
  }

  function tellProblems(now: number): void {
    const host = parts.host();
    const apps = [...known.values()].map(({ app }) => app);
    const isUnwell = ({ state }: App) =>
      state === "down" || state === "crashing" || state === "degraded" || state === "failing";
    const ofServer = serverProblems(
      {
        engine: watch.engine(),
        proxy: edge.now.ingress?.proxy,
        certificates: edge.now.certificates,
        runs: edge.now.runs,
        disk: host && { used_bytes: host.disk_used_bytes, total_bytes: host.disk_total_bytes },
        collectionHeld: edge.now.collectionHeld,
        held: edge.now.held,
        ...edge.now.machine,
        hit: apps.filter(isUnwell).map(({ scope, name }) => `${scope}/${name}`),
      },
      now,
    );
    const others = alarms.filter((alarm) => !apps.some((app) => isAboutApp(alarm, app)));
    const ofAlarms = alarmProblems(others, ofServer).map(shortened);
    const ofApps = apps.flatMap((app) => app.problems);
    problems = [...ofServer, ...ofAlarms, ...ofApps, ...parts.noted()].sort(worstFirst);
    const text = `${engineUp}${JSON.stringify(problems)}`;
    if (text === problemsText) return;
    problemsText = text;
    changes.publish({ type: "problems", engineUp, problems });
  }

  async function refreshEdge(maxAgeMs: number): Promise<void> {
    if (await edge.refresh(maxAgeMs)) allDirty = true;
  }

  async function sample(): Promise<void> {
    const apps = [...known.values()].map(({ app }) => app);
    await figures.sample(clock.now(), apps);
    const host = parts.host();
    const rows = apps.map((app) => ({ ...keyOf(app), usage: figures.usageOf(app), traffic: figures.trafficOf(app) }));
    const measured = rows.filter(({ usage, traffic }) => usage !== undefined || traffic !== undefined);
    const at = new Date(clock.now()).toISOString();
    changes.publish({
      type: "metrics",
      tick: { at, ...(host === undefined ? {} : { host }), apps: measured.map(defined) },
    });
  }

  async function every(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work().catch((error: unknown) => parts.log.warn("apps not looked at", { error }));
      await sleepAbout(clock, ms, signal);
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!allDirty && dirty.size === 0) await Promise.race([woken, sleepAbout(clock, limits.sampleMs, signal)]);
      // What belongs together comes together: a rollout moves many things within one moment.
      if (allDirty || dirty.size > 0) await clock.sleep(limits.gatherMs, signal);
      if (!signal.aborted) catchUp();
    }
  }

  return {
    async fresh() {
      await refreshEdge(limits.staleMs);
      catchUp();
    },
    list: () => [...known.values()].map(withFigures).sort(byState),
    get(ref) {
      const found = known.get(keyText(ref));
      return found && withFigures(found);
    },
    problems: () => problems,
    alarm(next) {
      if (JSON.stringify(next) === JSON.stringify(alarms)) return;
      alarms = next;
      allDirty = true;
      wake();
    },
    engine: () => watch.engine(),
    host: parts.host,
    subscribe: changes.subscribe,
    async run(signal) {
      await Promise.all([
        follow(signal),
        every(limits.sampleMs, signal, sample),
        every(limits.edgeMs, signal, () => refreshEdge(limits.staleMs)),
      ]);
    },
  };
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
}

function byState(a: KnownApp, b: KnownApp): number {
  const rank = ({ app }: KnownApp) => -appStates.indexOf(app.state);
  return rank(a) - rank(b) || (keyText(a.app) < keyText(b.app) ? -1 : 1);
}
