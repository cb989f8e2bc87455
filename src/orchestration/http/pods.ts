import { pulled } from "../../base/http/pulled.ts";
import { readFiles, statFile } from "../api/files.ts";
import { getPod, listPods, podReady, startPod, stopPod } from "../api/pods.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { readPodName } from "../../base/http/request.ts";

export function mountPods(plane: Plane, controller: Controller): void {
  mount(plane, listPods, ({ query: { detail, spec, env, ...filter }, by }) =>
    controller.listPods(filter, {
      detail: readFlag(detail, false),
      spec: readFlag(spec, false),
      env: readFlag(env, false),
      by,
    }),
  );
  mount(plane, getPod, ({ params, query: { spec, env }, by }) =>
    controller.getPod(readPodName(params), {
      spec: readFlag(spec, false),
      env: readFlag(env, false),
      by,
    }),
  );
  mount(plane, podReady, {
    answer: ({ params }) => ({ readiness: controller.podReady(readPodName(params)) }),
    status: ({ readiness }) => (readiness.ready ? 200 : 503),
  });
  mount(plane, stopPod, ({ params, query, actor }) =>
    controller.stopPod(readPodName(params), { freeze: readFlag(query.freeze, true), actor }),
  );
  mount(plane, statFile, ({ params, query: { path } }) => controller.statFile({ name: readPodName(params), path }));
  mountStream(plane, readFiles, async ({ params, query: { path }, actor }, { signal }) => {
    const left = new AbortController();
    const place = { name: readPodName(params), path };
    const parts = await controller.readFiles(place, { actor, signal: AbortSignal.any([signal, left.signal]) });
    return new Response(pulled(parts, { onCancel: () => left.abort() }), {
      headers: { "Content-Type": "application/octet-stream" },
    });
  });
  mount(plane, startPod, ({ params, actor }) => controller.startPod(readPodName(params), { actor }));
}
