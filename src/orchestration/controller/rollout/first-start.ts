import { isoTime } from "../../../base/pure/iso-time.ts";
import { podKinds, type StoredManifest } from "../../api/manifest.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { StartAfter } from "../../core/spec/pod.ts";
import type { Context } from "../state/context.ts";
import { resolveStored } from "../desired/resolve.ts";
import { readinessOf } from "../state/observe.ts";

/**
 * What the first start of an app still waits for, by its `start_after`; undefined where it may start. An app that has a
 * container, or had a good release, has started before, and never waits again.
 */
export async function awaitedAtFirst(
  context: Context,
  manifest: StoredManifest,
): Promise<{ text: string; againInMs: number } | undefined> {
  const { limits, clock, store, pods } = context;
  const startAfter = podOf(manifest)?.startAfter ?? [];
  const leftMs = manifest.createdAt + limits.startAfterMs - clock.now();
  if (startAfter.length === 0 || leftMs <= 0 || store.releases.list(manifest).some(({ good }) => good))
    return undefined;
  await pods.refresh(manifest);
  if (pods.of(manifest).length > 0) return undefined;
  const missing = startAfter.filter((entry) => !isThere(context, manifest.scope, entry));
  if (missing.length === 0) return undefined;
  const names = missing.map(
    ({ name, awaits }) => `${manifest.scope}/${name} to ${awaits === "ready" ? "be ready" : "start"}`,
  );
  const until = isoTime(manifest.createdAt + limits.startAfterMs);
  return {
    text: `the first start waits for ${names.join(" and ")} (start_after), until ${until} at the latest`,
    againInMs: Math.min(leftMs, limits.startAfterLookMs),
  };
}

/** What is not stored is not waited for, nor is an app that wants no replica now. */
function isThere(context: Context, scope: string, { name, awaits }: StartAfter): boolean {
  const found = podKinds.flatMap((kind) => context.store.manifests.get({ kind, scope, name }) ?? []);
  return found.every((key) => {
    const wanted = resolveStored(context, key).workload.replicas - context.store.frozen.list(key).length;
    if (wanted <= 0) return true;
    const replicas = context.pods.of(key).filter(({ role }) => role === undefined);
    if (awaits === "started") return replicas.some(({ state }) => state === "running");
    return replicas.some((pod) => readinessOf(context, pod).ready);
  });
}
