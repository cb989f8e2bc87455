import { readParam } from "../../base/http/request.ts";
import {
  cancelAppBuild,
  followAppBuild,
  getBuildLog,
  listAppBuilds,
  retryAppBuild,
  startBuild,
} from "../api/builds.ts";
import { mount, mountStream } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountBuilds(plane: ObservabilityPlane): void {
  const { apps, streams } = plane.observability;
  const { builds } = apps;
  mount(plane, listAppBuilds, async ({ grant, query }) => ({ builds: await builds.list(grant, query) }));
  mount(plane, getBuildLog, async ({ grant, params }) => ({ log: await builds.log(grant, targetOf(params)) }));
  mountStream(plane, followAppBuild, async ({ grant, params, request }) => {
    const stream = streams.open(grant, request.signal);
    try {
      const output = await builds.follow(grant, targetOf(params), stream.signal);
      plane.connected.keepOpen(request);
      const body = output.pipeThrough(new TransformStream({ flush: () => stream.close() }), { signal: stream.signal });
      return new Response(body, {
        headers: {
          "Content-Type": followAppBuild.stream ?? "",
          "Cache-Control": "no-store",
          "X-Accel-Buffering": "no",
        },
      });
    } catch (error) {
      stream.close();
      throw error;
    }
  });
  mount(plane, startBuild, {
    answer: ({ grant, actor, body }) => builds.start({ grant, actor }, body),
    status: ({ reused }) => (reused ? 200 : 202),
  });
  mount(plane, cancelAppBuild, async ({ grant, actor, params }) => ({
    build: await builds.cancel({ grant, actor }, targetOf(params)),
  }));
  mount(plane, retryAppBuild, {
    answer: async ({ grant, actor, params }) => ({ build: await builds.retry({ grant, actor }, targetOf(params)) }),
    status: () => 202,
  });
}

function targetOf(params: Record<string, string | null>): { scope: string; name: string; id: string } {
  return { scope: readParam(params, "scope"), name: readParam(params, "name"), id: readParam(params, "id") };
}
