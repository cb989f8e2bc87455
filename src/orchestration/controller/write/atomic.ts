import { isoTime, spanTimes } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type StoredManifest } from "../../api/manifest.ts";
import type { AtomicApply as WireApply } from "../../api/atomic.ts";
import { fateOf, groupFate, type MemberFate } from "../../core/atomic.ts";
import type { AtomicApply, AtomicMember } from "../../store/atomic-records.ts";
import type { Transaction } from "../../store/store.ts";
import type { Outcome } from "./apply-change.ts";
import { resolveStored } from "../desired/resolve.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

/** What is stored before an apply, as far as it may have to come back. */
type Before = ReadonlyMap<string, { manifest: StoredManifest; imageId: string | undefined }>;

export function lookBefore(tx: Transaction): Before {
  const entries = tx.manifests.list().map((manifest) => {
    const imageId = isPodKind(manifest.kind) ? tx.images.pinOf(manifest)?.imageId : undefined;
    return [formatKey(manifest), { manifest, imageId }] as const;
  });
  return new Map(entries);
}

/** Remembers inside the transaction of an apply what would undo it. Returns the id to ask for. */
export function beginAtomic(
  context: Context,
  tx: Transaction,
  { before, outcome, actor }: { before: Before; outcome: Outcome; actor: string },
): string {
  const id = `apply-${Buffer.from(context.randomBytes(8)).toString("hex")}`;
  const written = [...outcome.puts, ...outcome.readers].map(({ manifest }) => memberOf(tx, manifest, before));
  const deleted = outcome.pruned.flatMap((key): AtomicMember[] => {
    const known = before.get(formatKey(key));
    if (known === undefined) return [];
    const { kind, scope, name, spec } = known.manifest;
    const undo = { previous: spec, imageId: known.imageId };
    return [{ kind, scope, name, action: "deleted", revision: 0, release: undefined, ...undo, outcome: undefined }];
  });
  const members = [...written, ...deleted].filter(({ action, release }) => action !== "unchanged" || release);
  const times = { startedAt: context.clock.now(), endedAt: undefined };
  tx.atomic.put({ id, actor, state: "waiting", ...times, error: undefined, members });
  return id;
}

function memberOf(tx: Transaction, manifest: StoredManifest, before: Before): AtomicMember {
  const { kind, scope, name, revision } = manifest;
  const known = before.get(formatKey(manifest));
  const [latest] = tx.releases.list(manifest);
  const begun = latest !== undefined && latest.endedAt === undefined ? latest.id : undefined;
  const action = known === undefined ? "created" : known.manifest.revision === revision ? "unchanged" : "updated";
  const undo = { previous: known?.manifest.spec, imageId: known?.imageId };
  return { kind, scope, name, action, revision, release: begun, ...undo, outcome: undefined };
}

/** What became of one resource since the apply. */
export function memberFate(context: Context, member: AtomicMember): MemberFate {
  const { store, notes } = context;
  const stored = store.manifests.get(member);
  const releases = stored === undefined ? [] : store.releases.list(member);
  const at = releases.findIndex(({ id }) => id === member.release);
  const look = notes.look(member);
  return fateOf({
    action: member.action,
    runs: isPodKind(member.kind),
    appliedRevision: member.revision,
    storedRevision: stored?.revision,
    release: releases[at],
    rolledBack: at === 1 && releases[0]?.cause === "auto_rollback" && releases[0].revision === stored?.revision,
    status: look && {
      phase: look.phase,
      observedRevision: look.revision,
      isNewest: look.revision === stored?.revision && look.generation === stored?.generation,
      reason: look.error ?? "not ready",
    },
  });
}

/** Looks at one that waits: whether it goes on waiting, is kept, or has to go back. */
export function lookAtGroup(context: Context, group: AtomicApply) {
  return groupFate(group.members.map((member) => ({ ref: formatKey(member), fate: memberFate(context, member) })));
}

/** GET /applies/{id}. */
export function atomicApply(context: Context, id: string): WireApply {
  const known = context.store.atomic.get(id);
  if (known === undefined) throw new Failure("not_found", `no atomic apply "${id}"`);
  return {
    id,
    state: known.state,
    ...spanTimes(known.startedAt, known.endedAt),
    ...(known.error === undefined ? {} : { error: known.error }),
    ...(known.failed === undefined ? {} : { failed: known.failed }),
    resources: known.members.map((member) => {
      const revision = context.store.manifests.get(keyOf(member))?.revision;
      const until = known.state === "waiting" ? untilOf(context, member) : undefined;
      return {
        ref: formatKey(member),
        action: member.action,
        fate: member.fate,
        outcome: member.outcome,
        ...(until === undefined ? {} : { until: isoTime(until) }),
        revision,
      };
    }),
  };
}

/** The end of its progress deadline, epoch milliseconds; undefined where nothing rolls. */
function untilOf(context: Context, member: AtomicMember): number | undefined {
  const { clock, progress, store } = context;
  const since = progress.rolloutSince(member);
  const manifest = store.manifests.get(keyOf(member));
  if (since === undefined || manifest === undefined || memberFate(context, member).is !== "waiting") return undefined;
  const { workload } = resolveStored(context, manifest);
  return since + workload.rollout.progressDeadlineMs + clock.now() - clock.steady();
}
