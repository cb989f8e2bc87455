import { isoTime } from "../../base/pure/iso-time.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { beginRehearsal, listRehearsals, Rehearsal, RehearsedApp } from "../api/rehearsals.ts";
import { copiesOf } from "../core/drills.ts";
import {
  type Case,
  type DrillParts,
  faultOf,
  notStarted,
  uncopiedText,
  type Rehearsed,
  type TriedPod,
} from "./drill-parts.ts";
import { allCopies } from "./restore-plan.ts";
import { type Place, readyAll, type Trials } from "./trials.ts";

/** Changes that are tried on copies of apps and their data, before anything of them is stored. */
export interface Rehearsals<C> {
  /** Fails `conflict` while something else is tried, and as an apply of the body by the caller would. */
  begin(body: unknown, caller: C): Promise<DataOf<typeof beginRehearsal>>;
  list(): DataOf<typeof listRehearsals>;
}

interface Part extends Case {
  beside: boolean;
  hasRelease: boolean;
  /** Volumes of which it has no copy. */
  empty: { what: string; volume: string }[];
}

/** What one rehearsal goes by. */
interface Run {
  kept: Rehearsal;
  startedAt: number;
  plan: Rehearsed;
}

interface RehearsalParts<C> extends DrillParts {
  /** The apps of the body of an apply, as the apply would have them. */
  plan(body: unknown, caller: C): Promise<Rehearsed>;
}

export function createRehearsals<C extends { actor: string }>(parts: RehearsalParts<C>, trials: Trials): Rehearsals<C> {
  const { clock, log, limits } = parts;
  /** Newest first. */
  const known: Rehearsal[] = [];

  const rowOf = ({ app, beside }: Pick<Part, "app" | "beside">) => ({
    ...{ app: `${app.scope}/${app.name}`, kind: app.kind, beside },
  });
  const notRehearsed = (why: string) => ({ result: "not_rehearsed" as const, why });

  /** The apps of the files and those beside them, as far as they can be tried; the others have their result afterwards. */
  async function partsOf({ kept, plan }: Run): Promise<Part[]> {
    const none = { copies: [], unreachable: [] };
    const { copies, unreachable } = parts.targets().length === 0 ? none : await allCopies(parts, undefined);
    const found: Part[] = [];
    for (const one of [...changedApps(plan), ...appsBeside(parts, plan)]) {
      const examined = await plan.stage.examine(one.app);
      if ("refused" in examined) {
        kept.apps.push({ ...rowOf(one), ...notRehearsed(examined.refused) });
        continue;
      }
      const { found: own, missing } = copiesOf(one.app, copies, examined.replicas);
      // A volume that is new has no copy. One whose copies are out of reach is not the same.
      const isLacking = missing.length > 0 && (one.beside || unreachable.length > 0);
      if (isLacking) kept.apps.push({ ...rowOf(one), ...notRehearsed(uncopiedText(missing, unreachable)) });
      else found.push({ ...one, ...examined, copies: own, empty: missing });
    }
    return found;
  }

  async function rehearse(run: Run): Promise<void> {
    const { kept } = run;
    const { signal } = trials.closing;
    const all = await partsOf(run);
    if (all.every(({ beside }) => beside)) return;
    const given = await trials.open(all, signal);
    if ("refused" in given) {
      for (const one of all) kept.apps.push({ ...rowOf(one), ...notRehearsed(given.refused) });
      return;
    }
    const [ready, done] = [all.filter(({ hasRelease }) => !hasRelease), new AbortController()];
    const attempts = ready.map((one) => attempt(run, { one, all, given, signal, done: done.signal }));
    // What a release command may need is there by then.
    const pods = await Promise.all(attempts.map(({ started }) => started));
    const rows = attempts.map(({ row }) => row);
    const releasing = all.filter(({ hasRelease }) => hasRelease);
    if (releasing.length > 0) {
      await Promise.all(rows.filter((_, at) => pods[at]?.some(({ isChecked }) => isChecked)));
      const isUnchecked = pods.some((some) => some.some(({ isChecked }) => !isChecked));
      if (isUnchecked) await clock.sleep(limits.rehearsalHeadStartMs, signal);
    }
    for (const one of releasing) await attempt(run, { one, all, given, signal, done: done.signal }).row;
    await Promise.all(rows.filter((_, at) => ready[at]?.beside === false));
    done.abort();
    await Promise.all(rows);
  }

  /** One app: its release command, its start, its checks. Neither promise rejects; `started` is empty where it did not start. */
  function attempt(
    { kept, startedAt, plan: { stage } }: Run,
    { one, all, given, signal, done }: Trying,
  ): { started: Promise<TriedPod[]>; row: Promise<void> } {
    const begunAt = clock.steady();
    let release: RehearsedApp["release"];
    async function begin(): Promise<TriedPod[]> {
      const { volumes, faults, id } = given;
      const fault = faultOf(one, faults);
      if (fault !== undefined) throw new Unrestored(`its copy does not come back: ${fault}`);
      if (one.hasRelease) {
        const ended = await stage.release({ key: one.app, ordinal: undefined, id, volumes }, signal);
        if (ended !== undefined) release = { exit_code: ended.exitCode, output: ended.said };
        if (ended?.failed !== undefined) throw new Failure("conflict", ended.failed);
      }
      return trials.start(stage, { one, given }, AbortSignal.any([signal, AbortSignal.timeout(limits.drillReadyMs)]));
    }
    async function judge(): Promise<Pick<RehearsedApp, "result" | "why" | "seconds">> {
      try {
        const limit = AbortSignal.any([signal, done, AbortSignal.timeout(limits.drillReadyMs)]);
        const { result, watchedMs } = await readyAll(await begun, limit);
        const ms = Math.max(0, clock.steady() - begunAt - watchedMs);
        return { result: result === "proved" ? "passed" : "started", seconds: Math.round(ms / 100) / 10 };
      } catch (error) {
        // Nothing waits any more for what only ran beside the others.
        if (done.aborted) return { result: "started" };
        if (error instanceof Unrestored) return notRehearsed(error.message);
        const how = await notStarted(stage, { one, cases: all, why: trials.wordsOf(error), of: "rehearsal" });
        return how.result === "failed" ? { result: "failed", why: how.why } : notRehearsed(how.why ?? "");
      }
    }
    const begun = begin();
    const row = judge().then((how) => {
      if (signal.aborted) return;
      kept.apps.push({ ...rowOf(one), ...how, release, ...dataOf(one, all, startedAt) });
    });
    return { started: begun.catch(() => []), row };
  }

  /** Never rejects. */
  async function toEnd(run: Run, after: () => void): Promise<void> {
    const { kept, plan } = run;
    try {
      await trials.alone(() => rehearse(run));
    } catch (error) {
      const isKnown = (app: string) => kept.apps.some((row) => row.app === app);
      for (const one of changedApps(plan).filter(({ app }) => !isKnown(`${app.scope}/${app.name}`)))
        kept.apps.push({ ...rowOf(one), ...notRehearsed(trials.wordsOf(error)) });
    } finally {
      kept.ended_at = isoTime(clock.now());
      after();
    }
    log.info("rehearsed", { results: kept.apps.map(({ app, result }) => `${app} ${result}`).join(", ") });
  }

  return {
    async begin(body, caller) {
      parts.gate.mustBeOpen("nothing is rehearsed");
      const end = trials.beginRehearsal();
      try {
        const plan = await parts.plan(body, caller);
        const apps = plan.apps.map(({ scope, name }) => `${scope}/${name}`);
        if (apps.length === 0) throw new Failure("invalid", nothingText(plan.left));
        const [startedAt, { actor }] = [clock.now(), caller];
        const id = Buffer.from(parts.randomBytes(6)).toString("hex");
        await parts.onEvent({ actor, action: "backup.rehearse", detail: { apps: apps.join(", ").slice(0, 1_000) } });
        const kept: Rehearsal = { id, actor, started_at: isoTime(startedAt), apps: [], left_out: plan.left };
        known.unshift(kept);
        known.splice(limits.rehearsalsMax);
        void toEnd({ kept, startedAt, plan }, end);
        return { id, apps, left_out: plan.left };
      } catch (error) {
        end();
        throw error;
      }
    },
    list: () => ({ rehearsals: known }),
  };
}

interface Trying {
  one: Part;
  all: readonly Part[];
  given: Place;
  signal: AbortSignal;
  /** Aborts once the apps of the files have their results. */
  done: AbortSignal;
}

/** Says nothing of the change. */
class Unrestored extends Error {}

function changedApps({ apps }: Rehearsed) {
  return apps.map(({ scope, kind, name, volumes: mounted, hasRelease }) => {
    const volumes = mounted.map(({ claim, ordinal, volume }) => {
      return { subject: { scope, kind, name, claim, ordinal }, volume };
    });
    return { app: { scope, kind, name, policy: undefined, volumes, updatedAt: 0 }, beside: false, hasRelease };
  });
}

/** Protected apps of the same scopes, which those of the files may need. */
function appsBeside({ apps: stored }: Pick<DrillParts, "apps">, { apps: changed }: Rehearsed) {
  const scopes = new Set(changed.map(({ scope }) => scope));
  const isChanged = (name: string) => changed.some((one) => `${one.scope}/${one.name}` === name);
  const others = stored().filter(({ scope, name, policy }) => {
    return policy !== undefined && scopes.has(scope) && !isChanged(`${scope}/${name}`);
  });
  return others.map((app) => ({ app, beside: true, hasRelease: false }));
}

function dataOf({ copies, empty }: Part, all: readonly Part[], startedAt: number) {
  // A volume that another app has a copy of is restored for both.
  const isCopied = (volume: string) => all.some((part) => part.copies.some((copy) => copy.volume === volume));
  const lacking = empty.flatMap(({ what, volume }) => (isCopied(volume) ? [] : [what]));
  const none = lacking.length === 0 ? undefined : lacking;
  if (copies.length === 0) return { empty: none };
  const at = Math.min(...copies.map((copy) => copy.at));
  const age = Math.max(0, Math.round((startedAt - at) / 1000));
  return { copy_at: isoTime(at), data_age_seconds: age, empty: none };
}

function nothingText(left: Rehearsed["left"]): string {
  const [first] = left;
  const why = first === undefined ? "" : `: ${first.ref}: ${first.why}`;
  return `there is nothing to rehearse in it, only deployments and statefulsets can be${why}`;
}
