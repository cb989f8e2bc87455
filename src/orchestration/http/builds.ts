import { sees } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import { isFields } from "../../base/pure/fields.ts";
import { pulled } from "../../base/http/pulled.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { okResponse } from "../../base/http/answers.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";
import {
  type Build,
  buildImage,
  buildLog,
  cancelBuild,
  followBuild,
  getBuildContext,
  listBuilds,
  putBuildContext,
  retryBuild,
} from "../api/builds.ts";
import { noBuild } from "../controller/builds/builds.ts";
import type { Controller } from "../controller/controller.ts";
import { mountProgress } from "./progress.ts";
import { withName } from "./seen.ts";

export function mountBuilds(plane: Plane, controller: Controller): void {
  const shown = (build: Build) => withName(plane, build);
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
    async ({ actor, query, by, readBody }) => {
      const body = await readBody();
      requireBuildable(by, body);
      const detached = !readFlag(query.wait, true);
      return async ({ signal, onLine }) => {
        const built = await controller.build(body, { actor, onLine, detached, ...(detached ? {} : { signal }) });
        return { ...built, build: shown(built.build) };
      };
    },
    ({ build: { status } }) => (status === "queued" || status === "building" ? 202 : 200),
  );
  mount(plane, listBuilds, ({ query, by }) => ({
    builds: controller
      .listBuilds(query)
      .builds.filter((build) => sees(by, build))
      .map(shown),
  }));
  mount(plane, buildLog, (call) => controller.buildLog(targetOf(call)));
  mountStream(plane, followBuild, async (call) => {
    const left = new AbortController();
    const target = targetOf(call);
    const { signal, close } = call.open();
    const end = () => {
      left.abort();
      close();
    };
    try {
      const pieces = controller.followBuild(target, AbortSignal.any([signal, left.signal]));
      call.keepOpen();
      return new Response(pulled(pieces, { onCancel: end, onEnd: end }), {
        headers: { "Content-Type": followBuild.stream ?? "", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
      });
    } catch (error) {
      end();
      throw error;
    }
  });
  mount(plane, cancelBuild, async (call) => {
    const { build } = await controller.cancelBuild(targetOf(call));
    return { build: shown(build) };
  });
  mount(plane, retryBuild, {
    answer: async (call) => {
      const { build } = await controller.retryBuild(targetOf(call), { actor: call.actor });
      return { build: shown(build) };
    },
    status: () => 202,
  });
}

/** The build that a path names. Fails `not_found` for one that the caller may not see, as for one that there is not. */
function targetOf({ params, by }: { params: Record<"scope" | "name" | "id", string | null>; by: Principal }) {
  const target = { scope: params.scope ?? "", name: params.name ?? "", id: params.id ?? "" };
  if (!sees(by, target)) throw noBuild(target);
  return target;
}

/** Fails `forbidden` for an app that the caller may not see. What else is wrong with a body is for the controller to say. */
export function requireBuildable(by: Principal, body: unknown): void {
  const { scope, name } = isFields(body) ? body : {};
  if (typeof scope !== "string" || typeof name !== "string" || sees(by, { scope, name })) return;
  throw new Failure("forbidden", `this token may not build ${scope}/${name}`);
}
