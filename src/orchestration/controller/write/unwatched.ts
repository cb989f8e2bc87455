import { formatKey } from "../../api/manifest.ts";
import { fieldsOf } from "../../core/lenient.ts";
import type { PutResult } from "../../store/store.ts";
import { isLedTo } from "../rollout/guard.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

/**
 * The warning for a guard without requests to watch; empty when all is well. A first release is never watched, and its
 * ingress may come with it.
 */
export function unwatched(context: Context, { manifest, previous }: PutResult): string[] {
  if (!isPodKind(manifest.kind) || fieldsOf(manifest.spec.rollout).guard === undefined) return [];
  const mayCome = context.trafficOf !== undefined && previous === undefined;
  if (mayCome || isLedTo(context, manifest)) return [];
  return [`rollout.guard: watches nothing, because this server's ingress does not lead to ${formatKey(manifest)}`];
}
