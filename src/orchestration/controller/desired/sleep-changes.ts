import type { ManifestKey, Spec, StoredManifest } from "../../api/manifest.ts";
import { sleepPolicy } from "../../core/sleep.ts";
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
export function isAsleep(
  { store }: { store: Pick<Store, "sleep"> },
  { spec, ...key }: ManifestKey & { spec: Spec },
): boolean {
  return sleepPolicy(spec) !== undefined && store.sleep.get(key)?.asleep === true;
}

/** A release of an app starts it, asleep or not: only so it is known whether it works. */
export function wakeForRelease(tx: Transaction, manifest: StoredManifest, release: { id: string; now: number }): void {
  if (sleepPolicy(manifest.spec) === undefined) return;
  wake(tx, manifest, { actor: "reconciler", why: `release ${release.id}`, now: release.now });
}

/** An app that requests do not wake any more has the replicas of its manifest. Part of the transaction of the apply. */
export function forgetSleep(tx: Transaction, { manifest }: PutResult): void {
  if (manifest.kind === "deployment" && sleepPolicy(manifest.spec) === undefined) tx.sleep.remove(manifest);
}
