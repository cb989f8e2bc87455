import { readFlag } from "../../base/wire/query.ts";
import { Failure } from "../../base/wire/failure.ts";
import { appFilter } from "./filters.ts";
import { readCount, readParam, readSince } from "../../base/http/request.ts";
import { getApp, getOverview } from "../api/apps.ts";
import { applyManifests, deleteApp, diffReleases, listDeploys } from "../api/deploys.ts";
import { listJobs, pauseCronjob, resumeCronjob } from "../api/jobs.ts";
import type { AppTarget } from "../service/apps/apps.ts";
import { mount } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";

/** The app that a path names. */
export function readTarget({ params, query }: Pick<PlaneCall<PlaneEndpoint>, "params" | "query">): AppTarget {
  const { kind } = query as { kind?: string };
  const target = { scope: readParam(params, "scope"), name: readParam(params, "name") };
  return kind === undefined ? target : { ...target, kind };
}

const deploysAtOnce = 20;

/** Apps and jobs as the web UI shows them. */
export function mountApps(plane: ObservabilityPlane): void {
  mountDeploys(plane);
  mountJobs(plane);
  const { apps } = plane.observability.apps;
  mount(plane, getOverview, ({ grant }) => apps.overview(grant));
  mount(plane, getApp, (call) => apps.detail(call.grant, readTarget(call)));
  mount(plane, listDeploys, ({ grant, query }) =>
    apps.deploys(grant, {
      limit: readCount("limit", query.limit, 200) ?? deploysAtOnce,
      history: readFlag(query.history, false),
      cursor: query.cursor,
      isOfApp: appFilter(query.app),
      by: query.by?.toLowerCase(),
      status: readStatus(query.status),
      since: readSince(query.since, Date.now()),
    }),
  );
}

/** What brings releases, and what differs between them. */
function readStatus(text: string | undefined): string | undefined {
  if (text === undefined || releaseStatuses.includes(text)) return text;
  throw new Failure("invalid", `query status: "${text}" is none of ${releaseStatuses.join(", ")}`);
}

const releaseStatuses = ["pending", "running", "succeeded", "failed"];

function mountDeploys(plane: ObservabilityPlane): void {
  const { deploys, actions } = plane.observability.apps;
  mount(plane, diffReleases, (call) =>
    deploys.diff(call, readTarget(call), { from: call.query.from, to: call.query.to }),
  );
  mount(plane, applyManifests, {
    answer(call) {
      call.keepOpen();
      return deploys.apply(call, call.body, call.query);
    },
    status: ({ operations }) => (operations.length > 0 ? 202 : 200),
  });
  mount(plane, deleteApp, (call) => {
    const target = { ...readTarget(call), kind: readParam(call.params, "kind") };
    const name = `${target.scope}/${target.name}`;
    const prune = readFlag(call.query.prune, false);
    if (call.query.confirm !== name) {
      const what = prune ? "the app with its config, files and volumes" : "the app";
      throw new Failure("invalid", `query confirm: write confirm=${name} to delete ${what}`);
    }
    return actions.remove({ grant: call.grant, actor: call.actor, target }, { prune });
  });
}

/** Jobs and cron jobs; their runs are endpoints of operators. */
function mountJobs(plane: ObservabilityPlane): void {
  const { jobs } = plane.observability;
  mount(plane, listJobs, async ({ grant, query }) => ({ jobs: await jobs.list(grant, query) }));
  mount(plane, pauseCronjob, (call) => jobs.suspend(call, readTarget(call), true));
  mount(plane, resumeCronjob, (call) => jobs.suspend(call, readTarget(call), false));
}
