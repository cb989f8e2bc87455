import { pulled } from "../../base/http/pulled.ts";
import { podKinds } from "../api/manifest.ts";
import { listReleases, rollback, runRelease } from "../api/releases.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import type { Transcript } from "../controller/state/transcript.ts";
import { digestOf, keyOf } from "../../base/http/once.ts";
import { mount, mountStream, type Plane } from "../../base/http/mount.ts";
import { seenTarget, withName } from "./seen.ts";

export function mountReleases(plane: Plane, controller: Controller, headerPrefix: string): void {
  mountStream(plane, runRelease, async ({ query: { follow, message, ...target }, actor, by }, request) => {
    const run = (following: boolean) => controller.runRelease(target, { follow: following, actor, by, message });
    const stream = await startOnce(plane, request, { run, follow: readFlag(follow, false) });
    return new Response(bodyOf(stream.transcript, request.signal), {
      headers: {
        "Content-Type": runRelease.stream ?? "",
        [`${headerPrefix}-Scope`]: stream.scope,
        [`${headerPrefix}-Name`]: stream.name,
        [`${headerPrefix}-Release`]: stream.releaseId,
      },
    });
  });
  mount(plane, listReleases, (call) => {
    const { releases } = controller.listReleases(seenTarget(controller, call, apps));
    return { releases: releases.map((release) => withName(plane, release)) };
  });
  mount(plane, rollback, ({ query: { release_id, message, dry_run, no_backup, ...target }, actor, by, left }) =>
    controller.rollback(
      { ...target, releaseId: release_id },
      {
        actor,
        by,
        message,
        dryRun: readFlag(dry_run, false),
        noBackup: readFlag(no_backup, false),
        left,
      },
    ),
  );
}

const apps = { kinds: podKinds, what: (kind = "app") => kind };

interface Start {
  run: (follow: boolean) => Promise<ReleaseStream>;
  follow: boolean;
}

type ReleaseStream = Awaited<ReturnType<Controller["runRelease"]>>;

/** A request that comes again with its key follows the release that the first one started. */
async function startOnce(plane: Plane, request: Request, { run, follow }: Start): Promise<ReleaseStream> {
  const key = plane.once === undefined ? undefined : keyOf(request, runRelease);
  if (plane.once === undefined || key === undefined || follow) return run(follow);
  let started: ReleaseStream | undefined;
  await plane.once({ key, digest: digestOf(request, new Uint8Array(0)) }, async () => {
    started = await run(false);
    return { status: 200, headers: {}, body: started.releaseId };
  });
  return started ?? run(true);
}

/** The transcript is kept elsewhere, so a client that reads slowly does not hold up the release. */
function bodyOf(transcript: Transcript, signal: AbortSignal): ReadableStream<Uint8Array> {
  const left = new AbortController();
  return pulled(transcript.follow(AbortSignal.any([signal, left.signal])), { onCancel: () => left.abort() });
}
