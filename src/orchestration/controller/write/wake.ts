import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import type { Target } from "../requests.ts";
import { isAsleep, wake } from "../state/sleep-changes.ts";
import type { Context } from "../state/context.ts";
import { resolvePodTarget } from "../state/target.ts";

/** POST /wake. */
export async function wakeApp(context: Context, target: Target, { actor }: { actor: string }) {
  const { kind, scope, name } = resolvePodTarget(context.store.manifests, { ...target, kind: "deployment" });
  const key = { kind, scope, name };
  return context.store.write((tx) => {
    const stored = tx.manifests.get(key);
    if (stored === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
    const woken = isAsleep({ store: tx }, stored);
    if (woken) wake(tx, key, { actor, why: "started by hand", now: context.clock.now() });
    return { ...key, woken, revision: stored.revision };
  });
}
