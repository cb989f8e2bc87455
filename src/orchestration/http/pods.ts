import { pulled } from "../../base/http/pulled.ts";
import { isFromAfar, sees, unseen } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import type { QueryOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFiles, statFile } from "../api/files.ts";
import { getPod, listPods, type PodRecord, podReady, startPod, stopPod } from "../api/pods.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import type { Target } from "../controller/requests.ts";
import { withoutEnv } from "../core/mask-env.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { readPodName } from "../../base/http/request.ts";

export function mountPods(plane: Plane, controller: Controller): void {
  mount(plane, listPods, async ({ query, by }) => {
    const { detail, spec, env, stats, ...filter }: Partial<QueryOf<typeof listPods>> & WithStats = query;
    const isDetail = readFlag(detail, false);
    const options = { detail: isDetail, spec: readFlag(spec, false), env: readFlag(env, false), by };
    const { pods, degraded } = await controller.listPods(filter, options);
    const isSampled = isDetail && readFlag(stats, false);
    return {
      pods: await seenPods(controller, pods, { by, usageOf: isSampled ? filter : undefined }),
      degraded: degraded.filter(({ scope, name }) => sees(by, { scope, name })),
    };
  });
  mount(plane, getPod, async ({ params, query, by }) => {
    const { spec, env, stats }: Partial<QueryOf<typeof getPod>> & WithStats = query;
    const name = readPodName(params);
    const missing = unseen(`pod ${JSON.stringify(name)}`);
    const { pod } = await controller
      .getPod(name, { spec: readFlag(spec, false), env: readFlag(env, false), by })
      .catch((error: unknown) => {
        throw isFromAfar(by) && error instanceof Failure && error.code === "not_found" ? missing : error;
      });
    const app = { kind: pod.kind, scope: pod.scope, name: pod.resource_name };
    const [seen] = await seenPods(controller, [pod], { by, usageOf: readFlag(stats, false) ? app : undefined });
    if (seen === undefined) throw missing;
    return { pod: seen };
  });
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

/** Tokens have it: what each pod uses comes with the pods. */
interface WithStats {
  stats?: string | undefined;
}

/** Those that the caller may see: a token gets no values of their environment. `usageOf`: with what these use. */
async function seenPods<T extends Pick<PodRecord, "name" | "scope" | "resource_name">>(
  controller: Pick<Controller, "stats">,
  pods: readonly T[],
  { by, usageOf }: { by: Principal; usageOf: Target | undefined },
): Promise<T[]> {
  const seen = pods.filter(({ scope = "", resource_name: name }) => sees(by, { scope, name }));
  if (!isFromAfar(by)) return seen;
  const options = { orphans: true, live: false };
  const used = usageOf === undefined || seen.length === 0 ? [] : (await controller.stats(usageOf, options)).pods;
  const byPod = new Map(used.map(({ container_name: pod, usage, limits }) => [pod, { stats: { usage, limits } }]));
  return seen.map((pod) => withoutEnv({ ...pod, ...byPod.get(pod.name) }));
}
