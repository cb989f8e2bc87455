import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { okResponse } from "../../base/http/answers.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { readBody, readCount } from "../../base/http/request.ts";
import { buildImage, buildLog, getBuildContext, listBuilds, putBuildContext } from "../api/builds.ts";
import type { Controller } from "../controller/controller.ts";
import { mountProgress } from "./progress.ts";

export function mountBuilds(plane: Plane, controller: Controller): void {
  mount(plane, getBuildContext, { answer: ({ params }) => controller.contextState(params.digest ?? "") });
  mountStream(plane, putBuildContext, async ({ params, query }, request) => {
    const offset = readCount("offset", query.offset, Number.MAX_SAFE_INTEGER);
    if (offset === undefined) throw new Failure("invalid", "query offset: is required");
    const bytes = new Uint8Array(await request.arrayBuffer());
    const last = readFlag(query.last, false);
    return okResponse(200, await controller.uploadContext(params.digest ?? "", bytes, { offset, last }));
  });
  mountProgress(plane, buildImage, async ({ actor }, request) => {
    const body = await readBody(request, { depthMax: plane.jsonDepthMax });
    return ({ signal, onLine }) => controller.build(body, { actor, signal, onLine });
  });
  mount(plane, listBuilds, { answer: ({ query }) => controller.listBuilds(query) });
  mount(plane, buildLog, {
    answer: ({ params: { scope, name, id } }) =>
      controller.buildLog({ scope: scope ?? "", name: name ?? "", id: id ?? "" }),
  });
}
