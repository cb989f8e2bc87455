import { readFlag } from "../../base/wire/query.ts";
import { readCount, readParam } from "../../base/http/request.ts";
import { getApp, getOverview, listApps } from "../api/apps.ts";
import { listDeploys } from "../api/deploys.ts";
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

export function mountApps(plane: ObservabilityPlane): void {
  const { apps } = plane.observability.apps;
  mount(plane, getOverview, ({ grant }) => apps.overview(grant));
  mount(plane, listApps, async ({ grant, query: { sparks, ...filter } }) => ({
    apps: await apps.list(grant, { ...filter, sparks: readFlag(sparks, true) }),
  }));
  mount(plane, getApp, (call) => apps.detail(call.grant, readTarget(call)));
  mount(plane, listDeploys, ({ grant, query }) =>
    apps.deploys(grant, {
      limit: readCount("limit", query.limit, 200) ?? deploysAtOnce,
      history: readFlag(query.history, false),
      cursor: query.cursor,
    }),
  );
}
