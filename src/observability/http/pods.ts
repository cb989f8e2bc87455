import { readPodName } from "../../base/http/request.ts";
import { readFlag } from "../../base/wire/query.ts";
import { getPlanePod, listPlanePods, restartPlanePod } from "../api/pods.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountPods(plane: ObservabilityPlane): void {
  const { pods } = plane.observability;
  mount(plane, listPlanePods, ({ grant, query: { detail, spec, stats, ...filter } }) => {
    const shown = { detail: readFlag(detail, false), spec: readFlag(spec, false), stats: readFlag(stats, true) };
    return pods.list(grant, { ...filter, ...shown });
  });
  mount(plane, getPlanePod, ({ grant, params, query }) =>
    pods.get(grant, readPodName(params), { spec: readFlag(query.spec, false) }),
  );
  mount(plane, restartPlanePod, ({ grant, params, actor }) => pods.restart(grant, readPodName(params), { actor }));
}
