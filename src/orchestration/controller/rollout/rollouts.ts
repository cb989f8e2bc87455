import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { Rollout } from "../../api/rollouts.ts";
import { type CanaryCommand, canaryTold } from "../../core/plan/canary.ts";
import type { Asker, Target } from "../requests.ts";
import { resolveStored } from "../desired/resolve.ts";
import type { Context } from "../state/context.ts";
import { resolvePodTarget } from "../state/target.ts";
import { rolloutView } from "./rollout-view.ts";
import { requireUnlocked } from "../state/locks.ts";
import { abortRelease } from "./abort.ts";

type RolloutCommand = CanaryCommand | "abort";

/** GET /rollouts. */
export function rollout(context: Context, target: Target): Rollout {
  return rolloutView(context, resolvePodTarget(context.store.manifests, target));
}

/** POST /rollouts/…: answers with what came of it. Fails `conflict` where there is nothing to pause, resume, promote or abort. */
export async function tellRollout(
  context: Context,
  target: Target,
  { command, ...asker }: Asker & { command: RolloutCommand },
): Promise<Rollout> {
  const { kind, scope, name } = resolvePodTarget(context.store.manifests, target);
  const key = { kind, scope, name };
  if (command === "abort") await abortRelease(context, key, asker);
  else await tellCanary(context, key, { command, actor: asker.actor });
  context.enqueue(key);
  await context.ingressGate?.caughtUp(context.closing);
  return rolloutView(context, key);
}

interface Telling {
  command: CanaryCommand;
  actor: string;
}

async function tellCanary(context: Context, key: ManifestKey, { command, actor }: Telling): Promise<void> {
  const manifest = context.store.manifests.get(key);
  const policy = manifest && resolveStored(context, manifest).workload.rollout.canary;
  await context.store.write((tx) => {
    requireUnlocked(context, tx, [key]);
    const record = tx.canaries.get(key);
    const [latest] = tx.releases.list(key);
    const isUnderWay = record?.mode === "steps" && latest?.id === record.releaseId && latest.status === "running";
    if (policy === undefined || !isUnderWay) {
      const why = latest?.status === "running" ? `release ${latest.id} has no canary step` : "no release";
      throw new Failure(
        "conflict",
        `${formatKey(key)}: ${why} under way; see: berth rollout status ${key.scope}/${key.name}`,
      );
    }
    const told = canaryTold(policy, { ...record, elapsedMs: context.canaries.elapsedMs(key) }, command);
    if ("problem" in told) throw new Failure("conflict", `${formatKey(key)}: release ${latest.id}: ${told.problem}`);
    tx.canaries.put({ ...record, ...told });
    const detail = { release: latest.id, step: record.step + 1 };
    tx.events.append({ actor, action: `rollout.${command}`, ...key, detail }, context.clock.now());
  });
}
