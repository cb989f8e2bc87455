import { pulled } from "../../base/http/pulled.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { okResponse } from "../../base/http/answers.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";
import {
  buildImage,
  buildLog,
  cancelBuild,
  followBuild,
  getBuildContext,
  listBuilds,
  putBuildContext,
  retryBuild,
} from "../api/builds.ts";
import type { Controller } from "../controller/controller.ts";
import { mountProgress } from "./progress.ts";

export function mountBuilds(plane: Plane, controller: Controller): void {
  mount(plane, getBuildContext, ({ params }) => controller.contextState(params.digest ?? ""));
  mountStream(plane, putBuildContext, async ({ params, query }, request) => {
    const offset = readCount("offset", query.offset, Number.MAX_SAFE_INTEGER);
    if (offset === undefined) throw new Failure("invalid", "query offset: is required");
    const bytes = new Uint8Array(await request.arrayBuffer());
    const last = readFlag(query.last, false);
    return okResponse(200, await controller.uploadContext(params.digest ?? "", bytes, { offset, last }));
  });
  mountProgress(
    plane,
    buildImage,
    async ({ actor, query, readBody }) => {
      const body = await readBody();
      const detached = !readFlag(query.wait, true);
      return ({ signal, onLine }) =>
        controller.build(body, { actor, onLine, detached, ...(detached ? {} : { signal }) });
    },
    ({ build: { status } }) => (status === "queued" || status === "building" ? 202 : 200),
  );
  mount(plane, listBuilds, ({ query }) => controller.listBuilds(query));
  mount(plane, buildLog, ({ params }) => controller.buildLog(targetOf(params)));
  mountStream(plane, followBuild, async ({ params }, { signal }) => {
    const left = new AbortController();
    const pieces = controller.followBuild(targetOf(params), AbortSignal.any([signal, left.signal]));
    return new Response(pulled(pieces, { onCancel: () => left.abort() }), {
      headers: { "Content-Type": followBuild.stream ?? "" },
    });
  });
  mount(plane, cancelBuild, ({ params }) => controller.cancelBuild(targetOf(params)));
  mount(plane, retryBuild, {
    answer: ({ params, actor }) => controller.retryBuild(targetOf(params), { actor }),
    status: () => 202,
  });
}

function targetOf({ scope, name, id }: Record<string, string | null>): { scope: string; name: string; id: string } {
  return { scope: scope ?? "", name: name ?? "", id: id ?? "" };
}
