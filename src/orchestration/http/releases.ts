import { listReleases, rollback, runRelease } from "../api/releases.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import type { Transcript } from "../controller/rollout/transcript.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";

export function mountReleases(plane: Plane, controller: Controller, headerPrefix: string): void {
  mountStream(plane, runRelease, async ({ query: { follow, message, ...target }, actor }, { signal }) => {
    const stream = await controller.runRelease(target, { follow: readFlag(follow, false), actor, message });
    return new Response(bodyOf(stream.transcript, signal), {
      headers: {
        "Content-Type": "text/plain; charset=utf-8",
        [`${headerPrefix}-Scope`]: stream.scope,
        [`${headerPrefix}-Name`]: stream.name,
        [`${headerPrefix}-Release`]: stream.releaseId,
      },
    });
  });
  mount(plane, listReleases, { answer: ({ query }) => controller.listReleases(query) });
  mount(plane, rollback, {
    answer: ({ query: { release_id, message, ...target }, actor }) =>
      controller.rollback({ ...target, releaseId: release_id }, { actor, message }),
  });
}

/** Pulled: a slow reader keeps nobody waiting, the transcript is kept elsewhere. */
function bodyOf(transcript: Transcript, signal: AbortSignal): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const pieces = transcript.follow(AbortSignal.any([signal, left.signal]));
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => left.abort(),
  });
}
