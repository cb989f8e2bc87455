import { ApiError, type Client } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { describe } from "../../orchestration/api/describe.ts";
import { listPods, type PodRecord } from "../../orchestration/api/pods.ts";
import { containerName } from "../../orchestration/core/naming.ts";
import { didYouMean } from "../../base/pure/suggest.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { isFinishedRun, isPodKind, isReplica } from "../facts/look.ts";
import { kindNamed } from "../basics/kinds.ts";
import { parseReference, splitReplica } from "../basics/reference.ts";

type PodList = DataOf<typeof listPods>;

/** Words that mean containers where a kind may stand. */
export function isPodWord(word: string): boolean {
  return ["pod", "pods", "pd"].includes(word.toLowerCase());
}

/**
 * The containers that a reference names: all without one, those of a `scope`, of a kind, of `scope/name`, one replica with
 * `scope/name.replica`, or one by its container name `scope-name.replica`.
 */
export async function findPods(api: Client, text: string | undefined): Promise<PodList> {
  if (text === undefined) return api.call(listPods, { query: {} });
  const { word, kind, scope, name = "" } = parseReference(text);
  if (word?.includes(".")) return only(await api.call(listPods, { query: {} }), (pod) => pod.name === word);
  if (word !== undefined) {
    const inScope = await api.call(listPods, { query: { scope: word } });
    if (inScope.pods.length > 0) return inScope;
    const known = kindNamed(word);
    if (known !== undefined) return api.call(listPods, { query: { kind: known } });
    // Init and release containers have no dot in their names.
    return only(await api.call(listPods, { query: {} }), (pod) => pod.name === word);
  }
  const whole = await api.call(listPods, { query: { kind, scope, name } });
  const split = splitReplica(name);
  if (whole.pods.length > 0 || split === undefined) return whole;
  const siblings = await api.call(listPods, { query: { kind, scope, name: split.name } });
  return only(siblings, (pod) => pod.replica_id === split.replica);
}

/** The word of a reference that is a container's own name already: no other word has a dot. */
export function containerWord(text: string): string | undefined {
  const { word } = parseReference(text);
  return word?.includes(".") ? word : undefined;
}

function only(list: PodList, keep: (pod: PodList["pods"][number]) => boolean): PodList {
  return { pods: list.pods.filter(keep), degraded: [] };
}

/** What the name of a resource as a whole means. */
interface Meant {
  /** Whether a replica of it is meant. */
  concerns: (pod: PodRecord) => boolean;
  /** The names of replicas that have no container. */
  others: (text: string) => Promise<string[]>;
}

const allOfIt: Meant = { concerns: () => true, others: () => Promise.resolve([]) };

/**
 * Container names behind the references of `stop` and `start`. A whole scope is refused. Where a reference names a
 * resource, only the replicas that are `meant`.
 */
export async function podNames(api: Client, references: readonly string[], meant: Meant = allOfIt): Promise<string[]> {
  if (references.length === 0) throw usageFailure("say which pod: SCOPE/NAME.REPLICA; see: berth get pods");
  const names = await Promise.all(references.map((text) => namesOf(api, text, meant)));
  return [...new Set(names.flat())];
}

/** Names of the frozen replicas of a resource whose containers are gone; only the server knows them. */
export async function frozenWithoutContainer(api: Client, text: string): Promise<string[]> {
  const { kind, scope = "", name = "" } = parseReference(text);
  const stored = await api.call(listManifests, { query: { kind, scope, name } });
  const keys = stored.filter((manifest) => isPodKind(manifest.kind));
  const names = keys.map(async (key) => {
    const { status, pods } = await api.call(describe, { query: { kind: key.kind, scope, name } });
    const ids: unknown[] = Array.isArray(status?.frozen_ids) ? status.frozen_ids : [];
    const gone = ids.map(String).filter((id) => pods.every((pod) => pod.replica_id !== id));
    return gone.sort(byNumber).map((id) => containerName(scope, name, id));
  });
  return (await Promise.all(names)).flat();
}

/** The app that a reference names, where it is asleep: it has no containers then. */
export async function asleepApp(api: Client, text: string): Promise<{ scope: string; name: string } | undefined> {
  const { word, kind, scope = "", name = "" } = parseReference(text);
  if (word !== undefined) return undefined;
  const stored = await api.call(listManifests, { query: { kind, scope, name, status: "true" } });
  return stored.some(({ status }) => status?.phase === "asleep") ? { scope, name } : undefined;
}

const byNumber = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

/** For what a rollout takes away between the listing and the call: undefined, where several pods are meant. */
export async function unlessGone<T>(names: readonly string[], call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (names.length > 1 && error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

async function namesOf(api: Client, text: string, { concerns, others }: Meant): Promise<string[]> {
  const { word, scope = "", name = "" } = parseReference(text);
  if (word !== undefined && !word.includes(".")) {
    // Containers of runs have no dot in their names: the server says what they are.
    const { pods } = await findPods(api, text);
    if (pods.length === 1 && pods[0]?.name === word) return [word];
    throw usageFailure(`"${text}" names a whole scope: write SCOPE/NAME or SCOPE/NAME.REPLICA`);
  }
  const replicas = (await findPods(api, text)).pods.filter((pod) => isReplica(pod) && !isFinishedRun(pod));
  const isOne = word !== undefined || (replicas.length === 1 && replicas[0]?.resource_name !== name);
  if (isOne && replicas.length > 0) return replicas.map((pod) => pod.name);
  const gone = word === undefined ? await others(text) : [];
  if (replicas.length + gone.length > 0) return [...gone, ...replicas.filter(concerns).map((pod) => pod.name)];
  // A frozen replica may have no container left; the server knows its name all the same.
  const split = splitReplica(name);
  if (word !== undefined) return [word];
  if (split !== undefined) return [containerName(scope, split.name, split.replica)];
  throw await noPodsOf(api, text);
}

/** What to say of a name that has no pods, with the nearest one that has some. */
export async function noPodsOf(api: Client, name: string, more = ""): Promise<CommandFailure> {
  const { pods } = await api.call(listPods, { query: {} }).catch(() => ({ pods: [] }));
  const named = pods.map(({ scope = "", resource_name: own }) => (name.includes("/") ? `${scope}/${own}` : own));
  return new CommandFailure(`no pods of "${name}"${didYouMean(name, [...new Set(named)])}; see: berth get pods${more}`);
}
