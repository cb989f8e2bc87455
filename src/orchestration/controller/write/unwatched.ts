import { formatKey } from "../../api/manifest.ts";
import { fieldsOf } from "../../core/lenient.ts";
import type { PutResult } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

/**
 * The warning for a guard without requests to watch; empty when all is well. A first release is never watched, and its
 * ingress may come with it.
 */
export function unwatched({ trafficOf, clock }: Context, { manifest, previous }: PutResult): string[] {
  const { kind, scope, name, spec } = manifest;
  if (!isPodKind(kind) || fieldsOf(spec.rollout).guard === undefined) return [];
  const now = clock.now();
  const isSeen = trafficOf !== undefined && (previous === undefined || isLedTo());
  if (isSeen) return [];
  return [`rollout.guard: watches nothing, because this server's ingress does not lead to ${formatKey(manifest)}`];

  function isLedTo(): boolean {
    return trafficOf?.({ kind, scope, name }, { from: now, to: now }) !== undefined;
  }
}
