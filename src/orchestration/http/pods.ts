import { getPod, listPods, podReady, startPod, stopPod } from "../api/pods.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readPodName } from "../../base/http/request.ts";

export function mountPods(plane: Plane, controller: Controller): void {
  mount(plane, listPods, {
    answer: ({ query: { detail, spec, ...filter } }) =>
      controller.listPods(filter, { detail: readFlag(detail, false), spec: readFlag(spec, false) }),
  });
  mount(plane, getPod, {
    answer: ({ params, query }) => controller.getPod(readPodName(params), { spec: readFlag(query.spec, false) }),
  });
  mount(plane, podReady, {
    answer: ({ params }) => ({ readiness: controller.podReady(readPodName(params)) }),
    status: ({ readiness }) => (readiness.ready ? 200 : 503),
  });
  mount(plane, stopPod, {
    answer: ({ params, query, actor }) =>
      controller.stopPod(readPodName(params), { freeze: readFlag(query.freeze, true), actor }),
  });
  mount(plane, startPod, { answer: ({ params, actor }) => controller.startPod(readPodName(params), { actor }) });
}
