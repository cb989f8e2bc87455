import type { PodKindStatus } from "../../api/describe.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Rollout } from "../../api/rollouts.ts";
import { latestRelease } from "./releases.ts";
import type { Context } from "../state/context.ts";
import { canaryView } from "./canary-view.ts";

/** The latest release of a resource, and what it waits for. */
export function rolloutView(context: Context, { kind, scope, name }: ManifestKey): Rollout {
  const key = { kind, scope, name };
  const latest = latestRelease(context, key);
  const canary = canaryView(context, key);
  const status = context.notes.status(key) as Partial<PodKindStatus> | undefined;
  const message = status?.phase === "ready" ? undefined : status?.conditions?.[0]?.message;
  return {
    ...key,
    ...(latest === undefined ? {} : { release: latest.id, status: latest.status }),
    ...(latest?.error === undefined ? {} : { error: latest.error }),
    ...(message === undefined ? {} : { message }),
    ...(canary === undefined ? {} : { canary }),
  };
}
