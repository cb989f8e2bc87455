import type { ManifestKey, Spec, StoredManifest } from "../../api/manifest.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { PutResult, Store, Transaction } from "../../store/store.ts";

interface Turning {
  actor: string;
  why: string;
  now: number;
}

/** Its replicas go, as by a scale to 0; the manifest stays as it is. */
export function putToSleep(tx: Transaction, { kind, scope, name }: ManifestKey, { actor, why, now }: Turning): void {
  if (tx.sleep.get({ kind, scope, name })?.asleep === true) return;
  tx.sleep.put({ kind, scope, name, asleep: true, since: now });
  tx.events.append({ actor, action: "sleep", kind, scope, name, detail: { why } }, now);
}

export function wake(tx: Transaction, { kind, scope, name }: ManifestKey, { actor, why, now }: Turning): void {
  if (tx.sleep.get({ kind, scope, name })?.asleep !== true) return;
  tx.sleep.put({ kind, scope, name, asleep: false, since: now });
  tx.events.append({ actor, action: "wake", kind, scope, name, detail: { why } }, now);
}

/** Whether a deployment has no replicas until a request comes. */
export function isAsleep({ store }: { store: Pick<Store, "sleep"> }, manifest: ManifestKey & { spec: Spec }): boolean {
  return podOf(manifest)?.sleep !== undefined && store.sleep.get(manifest)?.asleep === true;
}

/** A release of an app starts it, asleep or not: only so it is known whether it works. */
export function wakeForRelease(tx: Transaction, manifest: StoredManifest, release: { id: string; now: number }): void {
  if (podOf(manifest)?.sleep === undefined) return;
  wake(tx, manifest, { actor: "reconciler", why: `release ${release.id}`, now: release.now });
}

/**
 * What an apply means for sleep. An app that requests do not wake any more has the replicas of its manifest, and one that
 * gets `replicas: 0` is put to sleep, as by a scale. Part of the transaction of the apply.
 */
export function takeOverSleep(
  tx: Transaction,
  result: PutResult,
  { actor, now }: { actor: string; now: number },
): void {
  const { manifest } = result;
  if (manifest.kind !== "deployment") return;
  if (podOf(manifest)?.sleep === undefined) tx.sleep.remove(manifest);
  else if (isScaledToSleep(result)) putToSleep(tx, manifest, { actor, why: "applied with replicas: 0", now });
}

export function isScaledToSleep({ manifest, previous }: PutResult): boolean {
  const isZero = (one: StoredManifest) => {
    const pod = podOf(one);
    return pod?.sleep !== undefined && pod.writtenReplicas === 0;
  };
  return isZero(manifest) && (previous === undefined || !isZero(previous));
}
