import { hindranceOf } from "../../core/plan/crash.ts";
import type { ReleaseRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";

/**
 * What is recorded of a release that another one replaces before its end: also what kept it from being ready until
 * then, as far as that is known.
 */
export function supersededText(context: Context, release: ReleaseRecord, by: string): string {
  const text = `superseded by release ${by}`;
  const why = knownTrouble(context, release);
  return why === undefined ? text : `${text}; not ready until then: ${why}`;
}

function knownTrouble({ pods, probes, progress }: Context, release: ReleaseRecord): string | undefined {
  const { kind, scope, name, hash, startedAt } = release;
  const key = { kind, scope, name };
  const trouble = progress.trouble(key);
  if (trouble !== undefined && trouble.at >= startedAt) return trouble.message;
  for (const pod of pods.of(key)) {
    if (pod.role !== undefined || pod.hash !== hash) continue;
    if (pod.cannotStart !== undefined) return `${pod.name}: ${pod.cannotStart}`;
    if (pod.oomKilled) return `${pod.name} ran out of memory`;
    const hindrance = hindranceOf({ ...pod, probe: probes.hindrance(pod) });
    if (hindrance !== undefined) return `${pod.name} ${hindrance}`;
  }
  return undefined;
}
