import { isoTime } from "../../base/pure/iso-time.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { keyOf, keyText } from "../api/manifest-key.ts";
import type { restoreHistory as endpoint } from "../api/history.ts";
import { wayBack } from "../core/diff.ts";
import { apply } from "./apply.ts";
import type { RollbackOptions } from "./requests.ts";
import type { Context } from "./state/context.ts";
import { knownTime } from "./views/history.ts";

const rest =
  "only manifests go back: config and the data of volumes stay as they are now;" +
  " berth backup restore brings back volumes that are gone";

/**
 * POST /history/restore: an apply of what was wanted then, which also deletes what was not. `expect` is the newest change that
 * the caller has seen a plan for. Fails `conflict` where there is a newer one.
 */
export async function restoreHistory(
  context: Context,
  { at, ...part }: { at: string | undefined; scope: string | undefined; name: string | undefined },
  { dryRun = false, expect, message, actor, by, noBackup, left }: RollbackOptions & { expect: number | undefined },
): Promise<DataOf<typeof endpoint>> {
  const { store } = context;
  const time = isoTime(knownTime(context, at).time);
  const [scope, name] = [part.scope || undefined, part.name || undefined];
  if (name !== undefined && scope === undefined) throw new Failure("invalid", "name: say the scope as well");
  const newest = store.history.list({ scope, limit: 1 })[0]?.seq ?? 0;
  if (expect !== undefined && expect !== newest) {
    throw new Failure(
      "conflict",
      "something was changed since the plan was made; nothing was restored, look at it again",
    );
  }
  const now = [
    ...store.manifests.list({ scope }).map((one) => ({ ...one, children: undefined })),
    ...store.blocks.list({ scope }).map((one) => ({ ...one, children: store.blocks.expanded(one) })),
  ];
  const { writes, deletes } = wayBack(store.history.at(Date.parse(time), { scope }), now, { scope, name });
  if (writes.length + deletes.length === 0) {
    return { applied: [], pruned: [], at: time, newest, ...(dryRun ? { dry_run: true, plan: [], current: [] } : {}) };
  }
  const revisions = new Map(now.map((one) => [keyText(one), one.revision]));
  const body = writes.map(({ kind, scope: place, name: called, spec }) => ({
    ...{ kind, ...(place === "" ? {} : { scope: place }), name: called, spec },
    metadata: { if_revision: revisions.get(keyText({ kind, scope: place, name: called })) ?? 0 },
  }));
  const asked = { actor, by, noBackup, left, message: message ?? `restored to ${time}` };
  const options = { dryRun, prune: false, takeOver: true, ...asked };
  const result = await apply(context, body, { ...options, restoring: { at: time, deletes: deletes.map(keyOf) } });
  return { ...result, warnings: [...(result.warnings ?? []), rest], at: time, newest };
}
