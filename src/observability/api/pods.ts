import { Type } from "@sinclair/typebox";
import { Flag } from "../../base/wire/query.ts";
import { Degraded, getPod, listPods, PodDetail, PodRecord } from "../../orchestration/api/pods.ts";
import { listStats, Stats } from "../../orchestration/api/stats.ts";
import { listFilter } from "../../orchestration/api/target.ts";
import { aliasOf, planeEndpoint } from "./plane-endpoint.ts";

/** What pods use; tokens read what the collector has. */
export const sampledStats = aliasOf(listStats, {
  query: Type.Object({
    ...listFilter,
    orphans: Flag("also pods whose manifest is gone (default false)"),
  }),
});

/** Usage of a pod that runs and was looked at. */
const PodUsage = Type.Object({ usage: Stats.properties.usage, limits: Stats.properties.limits });

/** A row of the list: compact, or in detail with what the pod uses. */
const PlanePod = Type.Union([PodRecord, Type.Composite([PodDetail, Type.Object({ stats: Type.Optional(PodUsage) })])]);

export const listPlanePods = aliasOf(listPods, {
  summary: "The containers of all apps, without values of their environment",
  query: Type.Object({
    ...listFilter,
    detail: Flag("rows become detail records (default false)"),
    spec: Flag("attach the manifest to each row (default false)"),
    stats: Flag("with detail: what each pod uses (default true)"),
  }),
  fixed: { stats: "true" },
  data: Type.Object({ pods: Type.Array(PlanePod), degraded: Type.Array(Degraded) }),
});

export const getPlanePod = aliasOf(getPod, {
  summary: "One container in detail, without values of its environment",
  query: Type.Object({ spec: Flag("attach the manifest (default false)") }),
  fixed: { stats: "true" },
  data: Type.Object({ pod: Type.Composite([PodDetail, Type.Object({ stats: Type.Optional(PodUsage) })]) }),
});

export const restartPlanePod = planeEndpoint({
  method: "POST",
  path: "/pods/:name/restart",
  scope: "actions",
  summary: "Roll the app of a container, replica by replica; answers at once, `operation` tells how it goes",
  data: Type.Object({
    scope: Type.String(),
    name: Type.String(),
    kind: Type.String(),
    unfroze: Type.Array(Type.String()),
    operation: Type.Optional(Type.String()),
  }),
});
