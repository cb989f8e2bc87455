import { isoTime } from "../../base/pure/iso-time.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import type { AppDrill, beginDrill, DrillBody, listDrills } from "../api/drills.ts";
import {
  chosenApps,
  copiesOf,
  drillId,
  dueScopes,
  ended,
  type EndedDrill,
  failingDrill,
  freshDrill,
  newestFirst,
  shownAppDrill,
  shownDrill,
} from "../core/drills.ts";
import { readRoot } from "../core/subject.ts";
import {
  type Case,
  type DrilledKey,
  type DrillParts,
  factsOf,
  lackOfRoom,
  notStarted,
  sizesOf,
  type Tried,
} from "./drill-parts.ts";
import type { AppVolumes } from "./platform.ts";
import { allCopies } from "./restore-plan.ts";

/** Copies that are tried: restored into a place without a way out, and started there. */
export interface Drills {
  /** Fails `conflict` while a drill is under way, and as `chosenApps` does. */
  begin(body: DrillBody, actor: string): Promise<DataOf<typeof beginDrill>>;
  list(): DataOf<typeof listDrills>;
  /** The last one of an app; undefined where none is known. */
  of(app: DrilledKey): AppDrill | undefined;
  /** Drills that failed, and apps without a good one for long; none without a target, of which others tell. */
  failing(): { target: string; what: string; sinceAt: number; error: string }[];
  /** Removes what a killed server has left, and drills what is due, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createDrills(parts: DrillParts): Drills {
  const { stage, clock, log, limits } = parts;
  const one = createLimit(1);
  const closing = new AbortController();
  /** Something of a drill may still be there. */
  let isLeft = true;

  const recordOf = (app: DrilledKey) => parts.drills().find((drill) => drillId(drill) === drillId(app));
  async function finish(app: DrilledKey, startedAt: number, how: Partial<EndedDrill> & Pick<EndedDrill, "result">) {
    const nothing = { why: undefined, target: undefined, copyAt: undefined, bytes: undefined, recoveryMs: undefined };
    const last = { ...nothing, ...how, startedAt, endedAt: clock.now() };
    await parts.putDrill(ended(recordOf(app) ?? freshDrill(app, clock.now()), last));
    const { result, why } = last;
    const detail = { app: `${app.scope}/${app.name}`, result, why: why ?? "" };
    await parts.onEvent({ actor: "reconciler", action: "backup.drilled", detail });
    log.info("backup drilled", detail);
  }

  const wordsOf = (error: unknown) => {
    if (error instanceof Failure) return error.message;
    log.error("drill failed", { error });
    return "an error of the server itself; its log says more";
  };

  /** What can be drilled of a scope; all else has its result afterwards. */
  async function casesOf(apps: readonly AppVolumes[], startedAt: number): Promise<Case[]> {
    const { copies, unreachable } = await allCopies(parts, undefined);
    const cases: Case[] = [];
    for (const app of apps) {
      const examined = await stage.examine(app);
      if ("refused" in examined) {
        await finish(app, startedAt, { result: "not_drilled", why: examined.refused });
        continue;
      }
      const { found, missing } = copiesOf(app, copies, examined.replicas);
      if (missing === undefined) {
        cases.push({ app, copies: found, ...examined });
        continue;
      }
      const away = unreachable.map(({ target, why }) => `; ${target} does not answer: ${why}`).join("");
      await finish(app, startedAt, { result: "failed", why: `there is no copy of ${missing}${away}` });
    }
    return cases;
  }

  /** The copies of a scope in volumes of the drill, by the volumes whose place they take; and what did not come back. */
  async function restored(cases: readonly Case[], id: string, signal: AbortSignal) {
    const [volumes, faults] = [new Map<string, string>(), new Map<string, string>()];
    for (const copy of cases.flatMap(({ copies }) => copies)) {
      if (volumes.has(copy.volume) || faults.has(copy.volume)) continue;
      try {
        const { volume, folder } = await stage.makeVolume(`${id}.${volumes.size + faults.size}`);
        const root = readRoot(copy.tags);
        await parts.turn(async () => (await parts.source(copy.target)).restore(copy.id, folder, signal));
        if (root !== undefined) await parts.folders.dress(folder, root);
        volumes.set(copy.volume, volume);
      } catch (error) {
        signal.throwIfAborted();
        faults.set(copy.volume, wordsOf(error));
      }
    }
    return { volumes, faults };
  }

  async function tryApp(
    { app, replicas }: Case,
    { id, volumes }: { id: string; volumes: Map<string, string> },
    limit: AbortSignal,
  ): Promise<Tried> {
    const ordinals = app.kind === "statefulset" ? [...Array(replicas).keys()] : [undefined];
    const results: Tried[] = [];
    const started = [];
    for (const ordinal of ordinals) started.push(await stage.start({ key: app, ordinal, id, volumes }, limit));
    for (const pod of started) results.push(await pod.ready(limit));
    const isStarted = results.some(({ result }) => result === "started");
    return { result: isStarted ? "started" : "proved", watchedMs: Math.max(...results.map((one) => one.watchedMs)) };
  }

  async function drill(cases: readonly Case[], startedAt: number, signal: AbortSignal): Promise<void> {
    const sizes = await sizesOf(
      parts,
      cases.flatMap(({ copies }) => copies),
    );
    const memoryBytes = cases.reduce((sum, one) => sum + one.memoryBytes * one.replicas, 0);
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const why = await lackOfRoom(parts, { bytes, memoryBytes });
    if (why !== undefined) {
      for (const { app } of cases) await finish(app, startedAt, { result: "not_drilled", why });
      return;
    }
    const id = Buffer.from(parts.randomBytes(6)).toString("hex");
    isLeft = true;
    await stage.open(id);
    const begunAt = clock.steady();
    const given = { id, ...(await restored(cases, id, signal)) };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.drillReadyMs)]);
    await Promise.all(
      cases.map(async (one) => {
        const [facts, { app, copies }] = [factsOf(one, sizes), one];
        const fault = copies.map(({ volume }) => given.faults.get(volume)).find((found) => found !== undefined);
        if (fault !== undefined) return finish(app, startedAt, { ...facts, result: "failed", why: fault });
        try {
          const { result, watchedMs } = await tryApp(one, given, limit);
          const recoveryMs = Math.max(0, clock.steady() - begunAt - watchedMs);
          await finish(app, startedAt, { ...facts, result, recoveryMs });
        } catch (error) {
          if (signal.aborted) return;
          const how = await notStarted(stage, { one, cases, why: wordsOf(error) });
          await finish(app, startedAt, { ...facts, ...how });
        }
      }),
    );
  }

  async function clear(): Promise<void> {
    await stage.clear();
    isLeft = false;
  }

  /** All apps of one scope at once, so that they find each other. Never rejects. */
  async function drillScope(apps: readonly AppVolumes[], signal: AbortSignal): Promise<void> {
    const startedAt = clock.now();
    try {
      const cases = await casesOf(apps, startedAt);
      if (cases.length > 0) await drill(cases, startedAt, signal);
    } catch (error) {
      for (const app of signal.aborted ? [] : apps)
        if (recordOf(app)?.last?.startedAt !== startedAt)
          await finish(app, startedAt, { result: "failed", why: wordsOf(error) });
    } finally {
      if (isLeft) await clear().catch((error: unknown) => log.warn("drill not removed yet", { error }));
      await release(apps);
    }
  }

  /** A drill that was cut off has no result: it is due again. */
  async function release(apps: readonly DrilledKey[]): Promise<void> {
    for (const app of apps) {
      const record = recordOf(app);
      if (record?.runningSince !== undefined) await parts.putDrill({ ...record, runningSince: undefined });
    }
  }

  async function begin(apps: readonly AppVolumes[]): Promise<Promise<void>[]> {
    for (const app of apps)
      await parts.putDrill({ ...(recordOf(app) ?? freshDrill(app, clock.now())), runningSince: clock.now() });
    const scopes = Map.groupBy(apps, ({ scope }) => scope);
    return [...scopes.values()].map((together) => one(() => drillScope(together, closing.signal)));
  }

  /** Apps of the scopes in which a drill is due. */
  async function due(): Promise<AppVolumes[]> {
    const guarded = parts.apps().filter(({ policy }) => policy !== undefined);
    const ids = new Set(guarded.map(drillId));
    for (const drill of parts.drills()) if (!ids.has(drillId(drill))) await parts.removeDrill(drill);
    for (const app of guarded) if (recordOf(app) === undefined) await parts.putDrill(freshDrill(app, clock.now()));
    if (parts.targets().length === 0) return [];
    const scopes = dueScopes(parts.drills(), limits, clock.now());
    return guarded.filter(({ scope }) => scopes.has(scope));
  }

  return {
    async begin(body, actor) {
      parts.gate.mustBeOpen("nothing is drilled");
      const apps = chosenApps(parts.apps(), body);
      const busy = parts.drills().find(({ runningSince }) => runningSince !== undefined);
      if (busy !== undefined)
        throw new Failure("conflict", `a drill of ${busy.scope}/${busy.name} is under way; see: berth backup drills`);
      if (parts.targets().length === 0)
        throw new Failure("conflict", "there is no target: berth backup target add NAME URL");
      const since = isoTime(clock.now());
      await begin(apps);
      const names = apps.map(({ scope, name }) => `${scope}/${name}`);
      await parts.onEvent({ actor, action: "backup.drill", detail: { apps: names.join(", ").slice(0, 1_000) } });
      return { since, apps: names };
    },
    list: () => ({ drills: newestFirst(parts.drills()).map((drill) => shownDrill(drill, limits, clock.now())) }),
    of: (app) => [recordOf(app)].flatMap((found) => (found ? shownAppDrill(found, limits, clock.now()) : []))[0],
    failing: () =>
      (parts.targets().length === 0 ? [] : parts.drills()).flatMap(
        (one) => failingDrill(one, clock.now(), limits) ?? [],
      ),
    async run(signal) {
      signal.addEventListener("abort", () => closing.abort(), { once: true });
      await release(parts.drills());
      const tidy = async () => {
        if (isLeft) await one(clear).catch((error: unknown) => log.warn("drill not removed yet", { error }));
      };
      while (isLeft && !signal.aborted) {
        await tidy();
        if (isLeft) await clock.sleep(limits.lookMs, signal);
      }
      await parts.gate.whenOpen(async () => {
        while (!signal.aborted) {
          await tidy();
          await due()
            .then(async (apps) => Promise.all(await begin(apps)))
            .catch((error: unknown) => log.error("drills not looked at", { error }));
          await clock.sleep(limits.drillLookMs, signal);
        }
      })(signal);
      await one(async () => undefined);
    },
  };
}
