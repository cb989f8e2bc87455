import { Failure } from "../../../base/wire/failure.ts";
import { apply, type ListedManifest, listManifests } from "../../../orchestration/api/apply.ts";
import { cancelRun, getRun, type JobRun, listRuns, runCronjob, runJob } from "../../../orchestration/api/jobs.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import type { JobView } from "../../api/jobs.ts";
import { type AppName, mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";

/** A job as a request names it: by kind only where a job and a cron job share the name. */
interface JobTarget extends AppName {
  kind?: string | undefined;
}

interface By {
  grant: Grant;
  actor: string;
}

/** Jobs and cron jobs. What a token may not reach does not exist for it. */
export interface Jobs {
  list(grant: Grant, filter: { scope?: string | undefined }): Promise<JobView[]>;
  runs(grant: Grant, target: JobTarget, limit: number): Promise<JobRun[]>;
  /** Fails `not_found`, as the next two. */
  run(grant: Grant, id: string): Promise<JobRun>;
  start(by: By, target: JobTarget): Promise<JobRun>;
  cancel(by: By, id: string): Promise<JobRun>;
  /** Suspends or resumes a cron job. Fails `not_found`. */
  suspend(by: By, target: AppName, suspended: boolean): Promise<{ scope: string; name: string; suspended: boolean }>;
}

type StoredJob = ListedManifest & { scope: string };

const kinds = ["job", "cronjob"] as const;
const runsRead = 1_000;
/** How many future times of a cron job are listed. */
const upcomingMax = 10;
const upcomingMs = 31 * 24 * 3_600_000;

export function createJobs({ platform, clock }: Pick<ObservabilityContext, "platform" | "clock">): Jobs {
  const client = platform.as("observability");

  async function stored(
    grant: Grant,
    filter: { kind?: string | undefined; scope?: string | undefined; name?: string },
  ) {
    const wanted = filter.kind === undefined ? kinds : kinds.filter((kind) => kind === filter.kind);
    const lists = await Promise.all(wanted.map((kind) => client.call(listManifests, { query: { ...filter, kind } })));
    return lists
      .flat()
      .map(({ scope = "", ...manifest }): StoredJob => ({ scope, ...manifest }))
      .filter((manifest) => mayReach(grant, manifest));
  }

  async function find(grant: Grant, { kind, scope, name }: JobTarget): Promise<StoredJob> {
    const [one, other] = await stored(grant, { kind, scope, name });
    if (other !== undefined) {
      throw new Failure("invalid", `${scope}/${name} is a job and a cron job: add kind=job or kind=cronjob`);
    }
    if (one === undefined) throw missing(`${kind === "cronjob" ? "cron job" : "job"} ${scope}/${name}`);
    return one;
  }

  async function reachable(grant: Grant, id: string): Promise<JobRun> {
    const run = await client.call(getRun, { params: { id } });
    if (!mayReach(grant, run)) throw missing(`run "${id}"`);
    return run;
  }

  return {
    async list(grant, { scope }) {
      const [manifests, { runs }] = await Promise.all([
        stored(grant, { scope }),
        client.call(listRuns, { query: { scope, limit: String(runsRead) } }),
      ]);
      const byJob = Map.groupBy(runs, keyText);
      const now = clock.now();
      return manifests.map((manifest) => {
        return viewOf(manifest, {
          runs: byJob.get(keyText(manifest)) ?? [],
          upcoming: manifest.kind === "cronjob" ? platform.upcoming(manifest.spec, { now, max: upcomingMax }) : [],
          until: now + upcomingMs,
        });
      });
    },
    async runs(grant, target, limit) {
      const { kind, scope, name } = await find(grant, target);
      return (await client.call(listRuns, { query: { kind, scope, name, limit: String(limit) } })).runs;
    },
    run: reachable,
    async start({ grant, actor }, target) {
      const { kind, scope, name } = await find(grant, target);
      const begin = kind === "job" ? runJob : runCronjob;
      return platform.as(actor, grant).call(begin, { query: { scope, name, wait: false } });
    },
    async cancel({ grant, actor }, id) {
      await reachable(grant, id);
      return platform.as(actor, grant).call(cancelRun, { params: { id } });
    },
    async suspend({ grant, actor }, target, suspended) {
      const { kind, scope, name, spec } = await find(grant, { ...target, kind: "cronjob" });
      await platform
        .as(actor, grant)
        .call(apply, { body: [{ kind, scope, name, spec: { ...spec, suspend: suspended } }] });
      return { scope, name, suspended };
    },
  };
}

interface JobTimes {
  runs: readonly JobRun[];
  upcoming: readonly number[];
  /** Later times are left out. */
  until: number;
}

function viewOf({ kind, scope, name, spec }: StoredJob, { runs, upcoming, until }: JobTimes): JobView {
  const job = (kind === "cronjob" ? spec.job : spec) as { image?: string };
  const { schedule, timezone, suspend } = spec as { schedule?: string; timezone?: string; suspend?: boolean };
  const [last] = runs;
  return {
    ...{ kind, scope, name, image: job.image ?? "" },
    ...(kind === "cronjob" ? { schedule: schedule ?? "", timezone: timezone ?? "UTC" } : {}),
    suspended: suspend === true,
    next_runs: upcoming.filter((at) => at <= until).map((at) => new Date(at).toISOString()),
    running: runs.filter(({ status }) => status === "running" || status === "scheduled").length,
    ...(last === undefined ? {} : { last_run: last }),
    runs: runs.map(({ tail: _, ...run }) => run),
  };
}

function missing(what: string): Failure {
  return new Failure("not_found", `${what} does not exist, or this token may not see it`);
}
