import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { type CpuSample, decideScale, type ScaleDecision } from "../../core/autoscale.ts";
import { decodeSpec, podOf } from "../../core/spec/decode.ts";
import type { AutoscalePolicy } from "../../core/spec/pod.ts";
import type { AutoscaleReads } from "../../store/records.ts";
import type { AutoscaleState, ManifestHead, PutResult, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

/** The newest CPU figures of the running replicas of a resource; empty while there are none. */
export type UsageOf = (key: ManifestKey) => readonly ReplicaUsage[];

export interface ReplicaUsage extends CpuSample {
  ready: boolean;
}

/** Moves the replica counts of the deployments that have an `autoscale` block. The counts live outside the manifests. */
interface Autoscaler {
  /** One look at every deployment. */
  tick(): Promise<void>;
  /** Looks every `autoscaleMs` until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createAutoscaler(context: Context, usageOf: UsageOf): Autoscaler {
  const { store, link, clock, limits, log } = context;

  let known = new Map<KeyText, Known>();

  /** Deployments that scale. Specs are read when they change: most of them never scale, and there may be thousands. */
  function scaling(): Known[] {
    const heads = store.manifests.heads().filter(({ kind }) => kind === "deployment");
    known = new Map(heads.map((head) => [keyText(head), knownOf(head)]));
    return [...known.values()].filter(({ policy }) => policy !== undefined);
  }

  function knownOf(head: ManifestHead): Known {
    const before = known.get(keyText(head));
    if (before?.head.revision === head.revision) return before;
    const spec = store.manifests.get(head)?.spec;
    return { head, policy: spec && decodeSpec("deployment", spec).autoscale };
  }

  async function tick(): Promise<void> {
    if (!link.up()) return;
    for (const { head, policy } of scaling()) {
      if (policy === undefined) continue;
      await look(context, { head, policy, usage: usageOf(head) }).catch((error) =>
        log.warn("autoscale failed", { key: formatKey(head), error }),
      );
    }
  }

  return {
    tick,
    async run(signal) {
      while (!signal.aborted) {
        await sleepAbout(clock, limits.autoscaleMs, signal);
        if (!signal.aborted) await tick();
      }
    },
  };
}

interface Known {
  head: ManifestHead;
  policy: AutoscalePolicy | undefined;
}

interface Sight {
  head: ManifestHead;
  policy: AutoscalePolicy;
  usage: readonly ReplicaUsage[];
}

async function look(context: Context, { head, policy, usage }: Sight): Promise<void> {
  const now = context.clock.now();
  const state = context.store.autoscale.get(head);
  const current = state?.replicas ?? policy.min;
  const samples = usage.filter(({ ready }) => ready);
  const { lastUpAt, lastDownAt } = state ?? {};
  const decision = decideScale({ ...policy, current, samples, lastUpAt, lastDownAt, now });
  if (decision.replicas === current) return;
  // Old and new replicas beside each other have less to do, each, than those that stay will have.
  if (decision.replicas < current && context.store.canaries.get(head) !== undefined) return;
  await context.store.write((tx) => {
    // Written or deleted meanwhile: the next look is about what is stored then.
    if (tx.manifests.get(head)?.revision === head.revision) step(tx, { head, state, current, decision, now });
  });
  context.enqueue(head);
}

interface ScaleStep {
  head: ManifestHead;
  state: AutoscaleState | undefined;
  current: number;
  decision: ScaleDecision;
  now: number;
}

function step(tx: Transaction, { head, state, current, decision, now }: ScaleStep): void {
  const { kind, scope, name } = head;
  const up = decision.replicas > current;
  tx.autoscale.put({
    kind,
    scope,
    name,
    replicas: decision.replicas,
    lastUpAt: up ? now : state?.lastUpAt,
    lastDownAt: up ? state?.lastDownAt : now,
  });
  const detail = { from: current, to: decision.replicas, why: decision.why };
  const action = up ? "autoscale.up" : "autoscale.down";
  tx.events.append({ actor: "autoscaler", action, kind, scope, name, detail }, now);
}

/**
 * What an apply means for the count: none resets it. A deployment that gets the block starts from the replicas it has,
 * so that none of them goes at once; one that loses it forgets the count. Part of the transaction of the apply.
 */
export function takeOverCount(tx: Transaction, result: PutResult): void {
  const { kind, scope, name } = result.manifest;
  if (kind !== "deployment") return;
  if (podOf(result.manifest)?.autoscale === undefined) tx.autoscale.remove(result.manifest);
  const replicas = countTakenOver(tx, result);
  if (replicas === undefined) return;
  tx.autoscale.put({ kind, scope, name, replicas, lastUpAt: undefined, lastDownAt: undefined });
}

/** The count that a deployment brings along when it gets its `autoscale` block; undefined in every other case. */
export function countTakenOver(
  { autoscale }: { autoscale: AutoscaleReads },
  { manifest, previous }: PutResult,
): number | undefined {
  const policy = podOf(manifest)?.autoscale;
  const before = previous && podOf(previous)?.writtenReplicas;
  if (policy === undefined || before === undefined || autoscale.get(manifest) !== undefined) return undefined;
  return Math.min(policy.max, Math.max(policy.min, before));
}
