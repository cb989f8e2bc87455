import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { describe } from "../../../orchestration/api/describe.ts";
import type { AppRelease, AppWatch, ReleaseFacts, ReleasesAsked } from "../../../orchestration/api/app-facts.ts";
import { system } from "../../../orchestration/api/health.ts";
import type { Client } from "../../../base/wire/client.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { Clock } from "../../../base/words/clock.ts";
import { keyOf, keyText } from "../../../orchestration/api/manifest-key.ts";
import { type App, type AppProblem, type AppState, appStates } from "../../api/app-model.ts";
import type { AppDetail, Deploy, Overview } from "../../api/apps.ts";
import type { listDeploys } from "../../api/deploys.ts";
import type { NameOf } from "../../core/apps/activity.ts";
import { releaseLine, replicaWire } from "../../core/apps/view.ts";
import { mayReach, reachesAll, unseen } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { EdgeReader } from "./edge.ts";
import type { Figures } from "./figures.ts";
import type { AppsLimits } from "./limits.ts";
import type { AppModel, KnownApp } from "./model.ts";

/** An app as a request names it. */
export interface AppTarget {
  kind?: string | undefined;
  scope: string;
  name: string;
}

/** What tokens see of apps. What a token may not reach does not exist for it. */
export interface Apps {
  list(isSeen: (app: App) => boolean, filter: { scope?: string; state?: string; sparks: boolean }): Promise<App[]>;
  detail(grant: Grant, target: AppTarget): Promise<AppDetail>;
  overview(grant: Grant): Promise<Overview>;
  /** The newest release of each app, or with `history` all that are kept, newest first. Fails `invalid` for a bad cursor. */
  deploys(grant: Grant, page: DeployPage): Promise<DataOf<typeof listDeploys>>;
  /** Fails `not_found`, also for what is out of reach; `invalid` where two kinds have the name. */
  resolve(grant: Grant, target: AppTarget): KnownApp;
}

interface DeployPage {
  limit: number;
  history: boolean;
  cursor?: string | undefined;
  isOfApp?: (app: AppTarget) => boolean;
  /** In small letters. */
  by?: string | undefined;
  status?: string | undefined;
  since?: number | undefined;
}

interface AppsParts {
  model: AppModel;
  edge: EdgeReader;
  figures: Figures;
  client: Client;
  nameOf: NameOf;
  /** Those that are kept, of all apps. */
  releasesOf: AppWatch["releases"];
  clock: Clock;
  limits: AppsLimits;
}

export function createApps({ model, edge, figures, client, nameOf, releasesOf, clock, limits }: AppsParts): Apps {
  const seenBy = (grant: Grant) => model.list().filter(({ app }) => mayReach(grant, app));

  function resolve(grant: Grant, { kind, scope, name }: AppTarget): KnownApp {
    const found = seenBy(grant).filter(({ app }) => app.scope === scope && app.name === name);
    const fitting = found.filter(({ app }) => kind === undefined || app.kind === kind);
    const [one, other] = fitting;
    if (other !== undefined) {
      throw new Failure(
        "invalid",
        `${scope}/${name} is a deployment and a statefulset: add kind=deployment or kind=statefulset`,
      );
    }
    if (one !== undefined) return one;
    throw unseen(`${kind ?? "app"} ${scope}/${name}`);
  }

  const withSparks = (app: App): App => {
    const sparks = figures.sparksOf(app);
    return sparks === undefined ? app : { ...app, sparks };
  };

  const deploysOf = (apps: readonly KnownApp[], page: DeployPage) => {
    const { limit, history, cursor, isOfApp = () => true } = page;
    const wanted = apps.filter(({ app }) => isOfApp(app));
    const isSearch = page.by !== undefined || page.status !== undefined;
    // One more shows whether there are others behind the page.
    const rows = (isSearch ? limits.deploysMax : limit) + 1;
    const shown: Deploy[] = [];
    let before = cursor === undefined ? undefined : readCursor(cursor);
    for (let look = 0; look < limits.deployLooksMax; look++) {
      const found = (history ? historyOf : newestOf)(wanted, { before, limit: rows });
      for (const [index, { app, ...release }] of found.entries()) {
        if (release.startedAt < (page.since ?? 0)) return { deploys: shown };
        before = release;
        const line: Deploy = { ...releaseLine(release, nameOf), app };
        if (isWanted(line, page)) shown.push(line);
        if (shown.length < limit) continue;
        return { deploys: shown, next: index + 1 < found.length ? `${release.startedAt}.${release.id}` : undefined };
      }
      if (found.length < rows) return { deploys: shown };
    }
    return { deploys: shown, next: before === undefined ? undefined : `${before.startedAt}.${before.id}` };
  };

  function historyOf(apps: readonly KnownApp[], page: Page): readonly AppRelease[] {
    const wanted = new Set(apps.map(({ facts }) => keyText(facts)));
    return releasesOf({ ...page, isWanted: (key) => wanted.has(keyText(key)) });
  }

  return {
    resolve,
    async list(isSeen, { scope, state, sparks }) {
      await model.fresh();
      const states = readStates(state);
      const found = model
        .list()
        .filter(({ app }) => isSeen(app))
        .filter(({ app }) => scope === undefined || app.scope === scope);
      const shown = found.filter(({ app }) => states === undefined || states.has(app.state));
      return shown.map(({ app }) => (sparks ? withSparks(app) : app));
    },
    async detail(grant, target) {
      await model.fresh();
      const { facts, judgement, app } = resolve(grant, target);
      const ref = keyOf(facts);
      const { manifest, volumes = [] } = await client.call(describe, { query: ref });
      const { canary, rollbackTo, status } = facts;
      return {
        ...withSparks(app),
        replicas: judgement.replicas.map((replica) => replicaWire(replica, figures.usageOfPod(replica.facts.name))),
        conditions: [...(status?.conditions ?? [])],
        ...(canary === undefined ? {} : { canary }),
        frozen_ids: [...facts.frozenIds],
        volumes,
        warnings: [...(status?.warnings ?? [])],
        ...(status?.nextRetryAt === undefined ? {} : { next_retry_at: status.nextRetryAt }),
        ...(rollbackTo === undefined ? {} : { rollback_to: rollbackTo }),
        manifest,
      };
    },
    async overview(grant) {
      await model.fresh();
      const { version, started_at, installation } = await client.call(system);
      const apps = seenBy(grant);
      const problems = model.problems().filter((problem) => maySee(grant, problem));
      const engine = model.engine();
      const host = model.host();
      const all = reachesAll(grant);
      const { ingress } = edge.now;
      return {
        at: isoTime(clock.now()),
        server: { version, started_at, installation },
        engine: {
          up: engine.up,
          since: isoTime(engine.since),
          ...(engine.error === undefined ? {} : { error: engine.error }),
        },
        ...(ingress === undefined || !all ? {} : { ingress: proxyLine(ingress.proxy) }),
        problems: problems.slice(0, limits.problemsShown),
        problems_left_out: Math.max(0, problems.length - limits.problemsShown),
        counts: countsOf(apps),
        apps: apps.map(({ app }) => withSparks(app)),
        ...(host === undefined || !all ? {} : { host }),
        deploys: deploysOf(apps, { limit: limits.deploysShown, history: false }).deploys,
      };
    },
    async deploys(grant, page) {
      await model.fresh();
      return deploysOf(seenBy(grant), { ...page, limit: Math.min(Math.max(1, page.limit), limits.deploysMax) });
    },
  };
}

type ReleasePlace = Pick<ReleaseFacts, "startedAt" | "id">;
type Page = Pick<ReleasesAsked, "before" | "limit">;

function newestOf(apps: readonly KnownApp[], { before }: Page): readonly AppRelease[] {
  return apps
    .flatMap(({ facts }) => (facts.release === undefined ? [] : [{ ...facts.release, app: keyOf(facts) }]))
    .filter((release) => before === undefined || newestFirst(release, before) > 0)
    .sort(newestFirst);
}

/** Whether a person who looks for some deploys means this one. */
function isWanted({ actor = "", actor_name: name = "", status }: Deploy, { by, status: asked }: DeployPage): boolean {
  if (asked !== undefined && status !== asked) return false;
  return by === undefined || [actor, name].some((who) => who.toLowerCase().includes(by));
}

/** Two that began at the same time keep their order between two questions. */
function newestFirst(a: ReleasePlace, b: ReleasePlace): number {
  return b.startedAt - a.startedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

function readCursor(text: string): ReleasePlace {
  const [, at, id = ""] = /^(\d{1,15})\.(.{1,100})$/.exec(text) ?? [];
  if (at === undefined) throw new Failure("invalid", "query cursor: is not `next` of an answer");
  return { startedAt: Number(at), id };
}

function proxyLine({ state, problem }: { state: string; problem?: string }) {
  return { state, ...(problem === undefined ? {} : { problem }) };
}

/** What belongs to no app is for tokens that may see everything; that the engine is away explains every app. */
function maySee(grant: Pick<Grant, "apps">, { app, type }: AppProblem): boolean {
  return app === undefined ? reachesAll(grant) || type === "engine" : mayReach(grant, app);
}

function countsOf(apps: readonly KnownApp[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { app } of apps) counts[app.state] = (counts[app.state] ?? 0) + 1;
  return counts;
}

function readStates(text: string | undefined): Set<AppState> | undefined {
  if (text === undefined) return undefined;
  const words = text.split(",").map((word) => word.trim());
  const states = appStates.filter((state) => words.includes(state));
  const wrong = words.find((word) => !appStates.some((state) => state === word));
  if (wrong === undefined) return new Set(states);
  throw new Failure("invalid", `query state: "${wrong}" is not a state; use ${appStates.join(", ")}`);
}
