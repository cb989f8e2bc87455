import { theServer, unnamed } from "../../../access/principal.ts";
import type { StoredManifest } from "../../api/manifest.ts";
import type { ReleaseReason } from "../../api/reasons.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { Delivery, ReleaseRecord, Transaction } from "../../store/store.ts";
import type { Asker } from "../requests.ts";
import type { Context } from "../state/context.ts";
import { refused } from "../state/authority.ts";
import { endCanary } from "./canary-end.ts";
import { deployCalls, putCalls } from "../state/webhooks.ts";
import { putBack } from "./put-back.ts";
import { lastGoodBefore } from "./releases.ts";

/** Why a release failed. */
interface ReleaseFailure {
  error: string;
  reasons: readonly ReleaseReason[];
}

interface FailedRelease {
  /** As the caller knows it: where somebody else has ended or replaced it meanwhile, nothing is recorded. */
  release: ReleaseRecord;
  failure: ReleaseFailure;
  /** What its commands left: exit codes and output. */
  commands?: Partial<ReleaseRecord>;
  calls: readonly Delivery[];
  now: number;
  /** A person wants it back, whatever `auto_rollback` says. */
  abortedBy?: Asker;
}

/** What a failed release leaves. */
type Aftermath =
  | { is: "superseded" }
  /** The last good spec is stored again. */
  | { is: "put back" }
  /** There is a good release, and the spec says to stay with the failed one, or its caller may not bring that back. */
  | { is: "kept"; goal: ReleaseRecord; stored: StoredManifest }
  /** No release before it was good; `worked`: this one was, before it was released again. */
  | { is: "alone"; worked: boolean };

/** The `on_deploy` calls about the failure; none where the manifest was deleted meanwhile. */
export async function failureCalls(
  context: Context,
  { release, error, image }: { release: ReleaseRecord; error: string; image: string },
): Promise<Delivery[]> {
  const manifest = context.store.manifests.get(release);
  if (manifest === undefined) return [];
  const { id: releaseId, startedAt } = release;
  return deployCalls(context, { manifest, releaseId, image, startedAt, error });
}

/** Records the failure with its reasons. The last good spec comes back unless the stored spec says otherwise. */
export function recordFailure(context: Context, tx: Transaction, failed: FailedRelease): Aftermath {
  const { release, failure, commands = {}, calls, now, abortedBy } = failed;
  const { kind, scope, name } = release;
  const key = { kind, scope, name };
  const { error, reasons } = failure;
  const known = tx.releases.now(release);
  const stored = tx.manifests.get(key);
  if (known?.status !== release.status || stored === undefined) return { is: "superseded" };
  tx.releases.put({ ...known, ...commands, status: "failed", endedAt: now, error, reasons });
  endCanary(tx, key, now);
  const detail = { release: release.id, error, reasons };
  tx.events.append({ actor: "reconciler", action: "release.failed", ...key, detail }, now);
  putCalls(tx, [...calls]);
  const releases = tx.releases.list(key);
  const goal = lastGoodBefore(releases, release);
  if (goal === undefined) return { is: "alone", worked: releases.some(({ good }) => good) };
  const isBeyond =
    release.lesser === true &&
    refused(unnamed, [{ key: { kind: stored.kind, scope, name }, spec: goal.spec }], tx).length > 0;
  if (abortedBy === undefined && (isBeyond || !goesBack(stored, release))) return { is: "kept", goal, stored };
  putBack(context, tx, {
    stored,
    goal,
    cause: "auto_rollback",
    author: { actor: abortedBy?.actor ?? "reconciler" },
    by: abortedBy === undefined ? theServer : abortedBy.by,
    why: error,
  });
  return { is: "put back" };
}

/** A release that came of going back is not gone back from. */
function goesBack(stored: StoredManifest, { cause }: ReleaseRecord): boolean {
  return podOf(stored)?.rollout.autoRollback !== false && cause !== "auto_rollback";
}
