import { type ProbeNews, probePayload } from "../../core/webhook-payload.ts";
import { podOf } from "../../core/spec/decode.ts";
import { decideProbeCall, type ProbeCall } from "../../core/probe-webhooks.ts";
import type { Delivery, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { deliveryOf, draftCalls, putCalls } from "../state/webhooks.ts";
import type { Pod } from "../state/pod.ts";

/** What of a pod the calls are about. */
type ProbedPod = Pick<Pod, "id" | "name" | "key" | "replicaId" | "image">;

/** A probe that crossed its threshold. */
interface ProbeChange {
  probe: ProbeNews["probe"];
  to: "healthy" | "unhealthy";
  /** What the last attempt saw, in a few words. */
  text: string;
}

/**
 * Tells the `on_probe` webhooks about a transition; to be called at every crossing of a threshold, repeated ones too.
 * Says nothing about pods that are being taken down on purpose, nothing twice, and a recovery only after a failure.
 * Fails only when the store cannot be written.
 */
export async function probeTransition(context: Context, pod: ProbedPod, change: ProbeChange): Promise<void> {
  const { probe, text: reason } = change;
  const manifest = context.store.manifests.get(pod.key);
  const hooks = manifest && podOf(manifest)?.onProbe;
  if (manifest === undefined || hooks === undefined || isPlanned(context, pod)) return;
  const now = context.clock.now();
  const transition = change.to === "unhealthy" ? "failure" : "recovery";
  const transitionId = Buffer.from(context.randomBytes(6)).toString("hex");
  const news: ProbeNews = { transition, pod: pod.name, image: pod.image, probe, reason, transitionId, at: now };
  const drafts = await draftCalls(context, manifest, {
    event: `probe.${transition}`,
    hooks: hooks[transition],
    payload: probePayload(manifest, news),
  });
  const subject = `${pod.name}:${probe}:`;
  await context.store.write((tx) => {
    const known = tx.deliveries.list(pod.key, context.limits.deliveriesKept);
    const about = known.filter(({ id }) => id.startsWith(subject));
    const decision = decideProbeCall(about.map(probeCallOf), transition, now);
    for (const call of about.filter(({ id }) => decision.cancel.includes(id))) callOff(tx, call);
    const { sendAt } = decision;
    if (sendAt === undefined) return;
    putCalls(
      tx,
      drafts.map((draft, index) =>
        deliveryOf(pod.key, draft, {
          id: `${subject}${transitionId}:${index}`,
          about: `probe ${subject}`,
          now,
          sendAt,
        }),
      ),
    );
  });
  context.outbox.wake();
}

/** Gone, on its way out, or stopped by a person. */
function isPlanned(context: Context, { id, key, replicaId }: ProbedPod): boolean {
  const { pods, leaving, store } = context;
  return pods.byId(id) === undefined || leaving.has(id) || store.frozen.list(key).includes(replicaId);
}

function probeCallOf({ id, event, status, attempts, nextAt }: Delivery): ProbeCall {
  return { id, transition: event === "probe.failure" ? "failure" : "recovery", status, attempts, nextAt };
}

function callOff(tx: Transaction, call: Delivery): void {
  tx.deliveries.put({ ...call, status: "dropped", lastResult: "over before it was sent" });
}
