import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { ReleaseRecord } from "../../store/store.ts";
import type { Asker } from "../requests.ts";
import type { Context } from "../state/context.ts";
import { requireUnlocked } from "../state/locks.ts";
import { copyBeforeReturn } from "./copy-before.ts";
import { failureCalls, recordFailure } from "./failed-release.ts";
import { rollback } from "./put-back.ts";
import { lastGoodBefore, latestRelease } from "./releases.ts";

/**
 * Ends the release under way as failed, and the last good spec comes back. After a release whose old replicas are kept:
 * a rollback to them. Fails `conflict` when there is neither.
 */
export async function abortRelease(context: Context, key: ManifestKey, asker: Asker): Promise<void> {
  const latest = latestRelease(context, key);
  const kept = context.store.canaries.get(key);
  if (latest?.status === "succeeded" && kept?.mode === "kept" && kept.releaseId === latest.id) {
    const goal = context.store.releases.list(key).find(({ good, id }) => good && id !== latest.id);
    await rollback(context, { ...key, releaseId: goal?.id }, asker);
    return;
  }
  await abortRunning(context, { key, release: abortable(context, key, latest), asker });
}

function abortable(context: Context, key: ManifestKey, latest: ReleaseRecord | undefined): ReleaseRecord {
  const ref = formatKey(key);
  const path = `${key.scope}/${key.name}`;
  if (latest?.status === "pending") {
    const text = `${ref}: the commands of release ${latest.id} run; end it with: berth rollback ${path}`;
    throw new Failure("conflict", text);
  }
  if (latest?.status !== "running") throw new Failure("conflict", `${ref}: no release is under way`);
  if (latest.cause === "rollback" || latest.cause === "auto_rollback") {
    throw new Failure("conflict", `${ref}: release ${latest.id} is itself a way back; apply what you want instead`);
  }
  if (lastGoodBefore(context.store.releases.list(key), latest) === undefined) {
    throw new Failure("conflict", `${ref}: there is no other good release to go back to`);
  }
  return latest;
}

async function abortRunning(
  context: Context,
  { key, release, asker }: { key: ManifestKey; release: ReleaseRecord; asker: Asker },
): Promise<void> {
  const { store, clock } = context;
  const { actor } = asker;
  const error = `Aborted: by ${actor}`;
  requireUnlocked(context, store, [key]);
  await copyBeforeReturn(context, release);
  const calls = await failureCalls(context, { release, error, image: release.image });
  const now = clock.now();
  await store.write((tx) => {
    requireUnlocked(context, tx, [key]);
    tx.events.append({ actor, action: "rollout.abort", ...key, detail: { release: release.id } }, now);
    const failure = { error, reasons: ["Aborted"] as const };
    const after = recordFailure(context, tx, { release, failure, calls, now, abortedBy: asker });
    if (after.is === "superseded") {
      throw new Failure("conflict", `${formatKey(key)}: release ${release.id} has just ended; look again`);
    }
    context.receipts.record(tx, { ...release, endedAt: now });
  });
  if (calls.length > 0) context.outbox.wake();
  context.receipts.completeLater({ ...release, endedAt: now });
  context.releasePhases.settle();
}
