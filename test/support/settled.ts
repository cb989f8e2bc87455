import { formatKey, podKinds } from "../../src/orchestration/api/manifest.ts";
import type { PodKindStatus } from "../../src/orchestration/api/describe.ts";
import type { ManifestHead, Store } from "../../src/orchestration/store/store.ts";

/** What is not ready and at rest, one text per resource; empty when everything is. */
export function unsettled(store: Store): string[] {
  const resources = store.manifests.heads().flatMap((head) => whyUnsettled(store, head) ?? []);
  const marks = store.deletions.list().map((mark) => `${formatKey(mark)} is being deleted`);
  return [...resources, ...marks];
}

function whyUnsettled(store: Store, head: ManifestHead): string | undefined {
  const status = store.status.get(head) as PodKindStatus | undefined;
  const name = formatKey(head);
  if (status === undefined) return `${name} has no status`;
  if (status.observed_revision !== head.revision) return `${name} was not looked at since it was written`;
  if (!podKinds.some((kind) => kind === head.kind)) return undefined;
  if (status.observed_generation !== head.generation) return `${name} was not looked at since its restart`;
  // Stopped is at rest, too: what is frozen stays away until somebody starts it.
  if (["ready", "stopped", "asleep"].includes(status.phase)) return undefined;
  const conditions = status.conditions.map(({ type, status: is, message }) => `${type}=${is} (${message})`);
  return `${name} is ${status.phase}: ${conditions.join(", ")}`;
}

export function secondsText(ms: number): string {
  return `${ms / 1000} s`;
}
