import { canonicalJson } from "../../../base/pure/digest.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type Spec, type StoredManifest } from "../../api/manifest.ts";
import { type Author, deployMessage } from "../../core/deploy-message.ts";
import type { ReleaseRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Asker, Target } from "../requests.ts";
import { requireUnlocked } from "../state/locks.ts";
import { stepsOf } from "./release-step.ts";
import { latestRelease, mintRelease } from "./releases.ts";
import { resolveTarget } from "../state/target.ts";
import type { ReleaseStream } from "../state/transcript.ts";

/**
 * POST /releases/run. The release goes on with or without a listener. One that an apply began with the commands that are stored, and
 * that no caller has joined, is what the first caller gets. One that runs other commands, or none, gives way to a new
 * release. Any other that is under way is a conflict, unless the caller wants to follow it.
 */
export async function runRelease(
  context: Context,
  target: Target,
  { follow, actor, by, message: text }: { follow: boolean } & Author & Asker,
): Promise<ReleaseStream> {
  const message = deployMessage(text, context.limits.messageCharactersMax);
  const key = resolveTarget(context.store.manifests, { ...target, kind: "deployment" });
  const { scope, name } = key;
  const latest = latestRelease(context, key);
  const under = latest?.endedAt === undefined ? latest : undefined;
  const stream = (release: ReleaseRecord) => {
    const transcript = context.releasePhases.transcript(release.id);
    context.releasePhases.settle();
    return { scope, name, releaseId: release.id, transcript };
  };
  if (follow) {
    if (latest === undefined) throw new Failure("not_found", `${formatKey(key)} has no release to follow`);
    return stream(latest);
  }
  const stored = context.store.manifests.get(key);
  requireBlock(stored);
  // Nothing would be reported until it is back.
  const isOwn = under?.cause === "release_run";
  if (!isOwn) context.link.require();
  if (under !== undefined && runsStored(under, stored)) {
    if (!isOwn && context.releasePhases.claim(under.id)) return stream(under);
    throw underWay(under);
  }
  const release = await context.store.write((tx) => {
    const manifest = tx.manifests.get(key);
    if (manifest === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
    requireBlock(manifest);
    requireUnlocked(context, tx, [key]);
    // Another caller may have been faster.
    const [newest] = tx.releases.list(key);
    if (newest !== undefined && newest.id !== latest?.id && newest.endedAt === undefined) throw underWay(newest);
    const now = context.clock.now();
    const minted = mintRelease(context, tx, { manifest, cause: "release_run", author: { actor, by, message }, now });
    tx.manifests.touch(key);
    const detail = { release: minted.id, ...(message === undefined ? {} : { message }) };
    tx.events.append({ actor, action: "release.run", ...key, detail }, now);
    return minted;
  });
  context.enqueue(key);
  return stream(release);
}

/** Whether the commands of a release are those of the manifest as it is stored. */
function runsStored(release: ReleaseRecord, stored: StoredManifest | undefined): boolean {
  const commands = (spec: Spec) => canonicalJson(spec.release ?? null);
  return stored !== undefined && commands(release.spec) === commands(stored.spec);
}

function underWay(release: ReleaseRecord): Failure {
  const text = `release ${release.id} of ${formatKey(release)} is in progress; follow it with follow=true`;
  return new Failure("conflict", text);
}

function requireBlock(manifest: StoredManifest | undefined): void {
  if (manifest === undefined || stepsOf(manifest).length > 0) return;
  throw new Failure("invalid", `${formatKey(manifest)} has no release block; use restart to roll it`);
}
