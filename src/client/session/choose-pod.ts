import { listPods, type PodRecord } from "../../orchestration/api/pods.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { parseReference } from "../basics/reference.ts";
import { isReplica } from "../facts/look.ts";
import { containerWord, findPods, noPodsOf } from "../wait/pods.ts";

/**
 * The container name of a pod that the reference names; of several replicas of one resource the newest ready one, with a
 * note. A word that is neither a scope nor a container is the name of a resource in any scope.
 */
export async function choosePod(context: Context, reference: string): Promise<string> {
  // A container's own name needs no look at the others: the server says when it is gone.
  const own = containerWord(reference);
  if (own !== undefined) return own;
  const pods = await podsOf(context, reference);
  const replicas = pods.filter(isReplica);
  const running = (replicas.length > 0 ? replicas : pods).filter((pod) => pod.running);
  const resources = new Set(running.map(({ kind, scope, resource_name: name }) => `${kind}/${scope ?? ""}/${name}`));
  if (resources.size > 1) {
    throw usageFailure(`"${reference}" names pods of ${[...resources].join(", ")}: write SCOPE/NAME`);
  }
  const [first, ...others] = running.toSorted(betterFirst);
  if (first !== undefined) {
    if (others.length > 0) context.terminal.note(context.terminal.noteStyle.dim(`in ${first.name}`));
    return first.name;
  }
  if (pods.length === 0) throw await noPodsOf(context.api, reference);
  throw new CommandFailure(
    `no pod of "${reference}" runs: ${pods.map((pod) => `${pod.name} is ${pod.state}`).join(", ")}`,
  );
}

function betterFirst(a: PodRecord, b: PodRecord): number {
  const ready = Number(b.ready) - Number(a.ready);
  return ready || (b.created_at ?? "").localeCompare(a.created_at ?? "");
}

async function podsOf({ api }: Context, reference: string): Promise<readonly PodRecord[]> {
  const { pods } = await findPods(api, reference);
  const { word } = parseReference(reference);
  if (pods.length > 0 || word === undefined) return pods;
  const all = await api.call(listPods, { query: {} });
  return all.pods.filter((pod) => pod.resource_name === word);
}
