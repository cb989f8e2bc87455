import { apply, type ListedManifest, listManifests } from "../../../orchestration/api/apply.ts";
import { type JobRun, listRuns } from "../../../orchestration/api/jobs.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import type { JobView } from "../../api/jobs.ts";
import { type AppName, unseen } from "../../../access/apps.ts";
import { actorOf, type Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";

/** Jobs and cron jobs. What a token may not reach does not exist for it. */
export interface Jobs {
  list(grant: Grant, filter: { scope?: string | undefined }): Promise<JobView[]>;
  /** Suspends or resumes a cron job. Fails `not_found`. */
  suspend(
    by: { grant: Grant; actor: string },
    target: AppName,
    suspended: boolean,
  ): Promise<{ scope: string; name: string; suspended: boolean }>;
}

type StoredJob = ListedManifest & { scope: string };

const runsRead = 1_000;
/** How many future times of a cron job are listed. */
const upcomingMax = 10;
const upcomingMs = 31 * 24 * 3_600_000;

export function createJobs({ platform, clock }: Pick<ObservabilityContext, "platform" | "clock">): Jobs {
  const client = platform.as("observability");

  async function stored(grant: Grant, kind: "job" | "cronjob", filter: { scope?: string | undefined; name?: string }) {
    const manifests = await platform.as(actorOf(grant), grant).call(listManifests, { query: { ...filter, kind } });
    return manifests.map(({ scope = "", ...manifest }): StoredJob => ({ scope, ...manifest }));
  }

  return {
    async list(grant, { scope }) {
      const [manifests, { runs }] = await Promise.all([
        Promise.all([stored(grant, "job", { scope }), stored(grant, "cronjob", { scope })]),
        client.call(listRuns, { query: { scope, limit: String(runsRead) } }),
      ]);
      const byJob = Map.groupBy(runs, keyText);
      const now = clock.now();
      return manifests.flat().map((manifest) => {
        return viewOf(manifest, {
          runs: byJob.get(keyText(manifest)) ?? [],
          upcoming: manifest.kind === "cronjob" ? platform.upcoming(manifest.spec, { now, max: upcomingMax }) : [],
          until: now + upcomingMs,
        });
      });
    },
    async suspend({ grant, actor }, target, suspended) {
      const [found] = await stored(grant, "cronjob", target);
      if (found === undefined) throw unseen(`cron job ${target.scope}/${target.name}`);
      const { kind, scope, name, spec } = found;
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
