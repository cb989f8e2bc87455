import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import { refuseBadName } from "../pods/pods.ts";
import type { Context } from "../state/context.ts";
import { type Pod, stopGently } from "../state/pod.ts";
import { refuseOneOff, stopOurs, thaw } from "./freeze.ts";

/** POST /pods/{name}/stop. The mark comes first: a container stopped without it would be healed at once. */
export async function stopPod(context: Context, name: string, { freeze, actor }: { freeze: boolean; actor: string }) {
  refuseBadName(name);
  context.link.require();
  const container = await context.engine.inspect(context.engine.named(name));
  if (container === undefined) throw new Failure("not_found", `no container "${name}"`);
  await context.pods.refreshAll();
  const pod = context.pods.byId(container.id);
  if (pod === undefined && freeze) {
    throw new Failure(
      "invalid",
      `"${name}" is not a pod of this installation, so it cannot be frozen; use freeze=false`,
    );
  }
  if (pod !== undefined) refuseOneOff(pod);
  const { stopGraceMs: graceMs } = container;
  if (pod === undefined) await context.engine.stop(container, { graceMs });
  else await stopOurs(context, pod, { freeze, graceMs, actor });
  return { name, freeze };
}

/**
 * POST /pods/{name}/start. A pod whose manifest is gone counts as not there from that moment on, not only when its
 * container is gone too.
 */
export async function startPod(context: Context, name: string, { actor }: { actor: string }) {
  refuseBadName(name);
  context.link.require();
  const container = await context.engine.inspect(context.engine.named(name));
  if (container === undefined) return thaw(context, name, actor);
  await context.pods.refreshAll();
  const pod = context.pods.byId(container.id);
  if (pod === undefined) {
    await context.engine.start(container);
    return { name, recreated: false, unfroze: false };
  }
  refuseOneOff(pod);
  if (context.store.manifests.get(pod.key) === undefined) {
    throw new Failure(
      "not_found",
      `${formatKey(pod.key)} is not stored any more, so "${name}" cannot be made again; apply it first`,
    );
  }
  return makeAnew(context, pod, actor);
}

async function makeAnew(context: Context, pod: Pod, actor: string) {
  // Stopped before the mark goes: until then no other code touches the pod.
  if (pod.state === "running") await stopGently(context.engine, pod);
  await context.engine.remove(pod);
  const unfroze = await context.store.write((tx) => {
    const ids = tx.frozen.remove(pod.key, pod.replicaId);
    tx.manifests.touch(pod.key);
    const detail = { replica_id: pod.replicaId, unfroze: ids.length > 0 };
    tx.events.append({ actor, action: "pod.start", ...pod.key, detail }, context.clock.now());
    return ids.length > 0;
  });
  context.enqueue(pod.key);
  return { name: pod.name, recreated: true, unfroze };
}
