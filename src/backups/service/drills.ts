import { isoTime } from "../../base/pure/iso-time.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
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
import { noTarget } from "../core/target.ts";
import {
  type Case,
  type DrilledKey,
  type DrillParts,
  factsOf,
  faultOf,
  notStarted,
  uncopiedText,
} from "./drill-parts.ts";
import type { AppVolumes } from "./platform.ts";
import { allCopies } from "./restore-plan.ts";
import { type DrillFill, fillOf, toldOf } from "./drill-database.ts";
import type { Place, Trials } from "./trials.ts";

/** The copy of the volume that holds the backup. */
const copyOf = ({ backups, backup }: DrillFill, found: Case["copies"]) =>
  found.filter(({ volume }) => backup !== undefined && volume === backups);

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

export function createDrills(parts: DrillParts, trials: Trials): Drills {
  const { stage, clock, log, limits } = parts;

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

  /** The database that a block has become: its data is what its pod makes of a backup. */
  const databaseOf = ({ kind, scope, name }: DrilledKey) =>
    parts.databases().find((one) => kind === "statefulset" && one.scope === scope && one.name === name);

  /** Protected apps, and databases whose WAL goes to a target. */
  const guardedApps = () => parts.apps().filter((app) => app.policy !== undefined || databaseOf(app)?.hasWal === true);

  const told = async ({ fill }: Case, { folders }: Pick<Place, "folders">) =>
    fill === undefined ? "" : toldOf(folders.get(fill.backups));

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
      const database = databaseOf(app);
      if (database !== undefined) {
        const fill = await fillOf(parts, database, found);
        const none = `there is no backup of ${app.scope}/${app.name} at a target`;
        if (fill === undefined) await finish(app, startedAt, { result: "failed", why: none });
        else cases.push({ app, copies: copyOf(fill, found), fill, ...examined });
        continue;
      }
      if (missing.length === 0) cases.push({ app, copies: found, ...examined });
      else await finish(app, startedAt, { result: "failed", why: uncopiedText(missing, unreachable) });
    }
    return cases;
  }

  async function drill(cases: readonly Case[], startedAt: number, signal: AbortSignal): Promise<void> {
    const given = await trials.open(cases, signal);
    if ("refused" in given) {
      for (const { app } of cases) await finish(app, startedAt, { result: "not_drilled", why: given.refused });
      return;
    }
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.drillReadyMs)]);
    await Promise.all(
      cases.map(async (one) => {
        const [facts, { app }, fault] = [factsOf(one, given.sizes), one, faultOf(one, given.faults)];
        if (fault !== undefined) return finish(app, startedAt, { ...facts, result: "failed", why: fault });
        try {
          const { result, watchedMs } = await trials.run(stage, { one, given }, limit);
          const differs = await told(one, given);
          if (differs !== "") throw new Failure("conflict", differs);
          const recoveryMs = Math.max(0, clock.steady() - given.begunAt - watchedMs);
          await finish(app, startedAt, { ...facts, result, recoveryMs });
        } catch (error) {
          if (signal.aborted) return;
          const why = (await told(one, given).catch(() => "")) || trials.wordsOf(error);
          const how = await notStarted(stage, { one, cases, why });
          await finish(app, startedAt, { ...facts, ...how });
        }
      }),
    );
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
          await finish(app, startedAt, { result: "failed", why: trials.wordsOf(error) });
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
    return [...scopes.values()].map((together) =>
      trials.alone(() => drillScope(together, trials.closing.signal)).finally(() => release(together)),
    );
  }

  /** Apps of the scopes in which a drill is due. */
  async function due(): Promise<AppVolumes[]> {
    const guarded = guardedApps();
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
      const apps = chosenApps(parts.apps(), body, guardedApps());
      trials.refuseBusy();
      if (parts.targets().length === 0) throw noTarget();
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
      signal.addEventListener("abort", () => trials.closing.abort(), { once: true });
      await release(parts.drills());
      while (!(await trials.tidy()) && !signal.aborted) await clock.sleep(limits.lookMs, signal);
      await parts.gate.whenOpen(async () => {
        while (!signal.aborted) {
          await trials.tidy();
          await due()
            .then(async (apps) => Promise.all(await begin(apps)))
            .catch((error: unknown) => log.error("drills not looked at", { error }));
          await clock.sleep(limits.drillLookMs, signal);
        }
      })(signal);
      await trials.alone(async () => undefined);
    },
  };
}
