import { changeFault, type PlaceChange } from "../../../access/app-fields.ts";
import { type AppLimit, appLimitOf, mayReach } from "../../../access/apps.ts";
import { mayChange, type Principal, unnamed } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { keyText } from "../../api/manifest-key.ts";
import type { ManifestKey, Spec } from "../../api/manifest.ts";
import { normaliseSpec } from "../../core/normalise.ts";
import type { PlannedAction } from "../../core/plugins/actions.ts";
import type { Transaction } from "../../store/store.ts";
import { restoreMasked } from "../../core/mask.ts";
import type { Maker } from "../../core/plugins/maker.ts";
import type { Context } from "../state/context.ts";
import { requireOnly } from "./own-places.ts";
import type { Place } from "../state/plugin-room.ts";

/** For whom a plugin works, as far as that decides what it may change. Its own grant is checked beside this. */
interface Starter {
  by?: Principal | undefined;
  /** The block of the plugin that the caller named. */
  block: ManifestKey | undefined;
}

/** What is stored, inside of a transaction or outside. */
interface Stored {
  manifests: Pick<Transaction["manifests"], "get" | "list">;
  blocks: Pick<Transaction["blocks"], "ownerOf">;
}

/** A change that a plugin asks for: of a manifest, or of everything of that name. */
type Asked = Place & { kind?: string; spec?: Spec };

/**
 * Refuses actions beyond what the caller of the plugin may change itself. Ask before the first side effect, and once more
 * in the transaction: by then something may belong to another block. Fails `forbidden`.
 */
export function requireActionsReached(starter: Starter, actions: readonly PlannedAction[], stored: Stored): void {
  for (const [index, action] of actions.entries()) {
    const asked = changeOf(action);
    if (asked === undefined) continue;
    requireChangeReached(starter, { asked, what: `actions[${index}] (${action.type})` }, stored);
  }
}

/** Refuses actions of a command that a pod asked for, where they are about other blocks of the plugin. Fails `forbidden`. */
export function requireActionsOnly(
  context: Context,
  { plugin, only }: { plugin: Maker; only: readonly Place[] | undefined },
  actions: readonly PlannedAction[],
): void {
  if (only === undefined) return;
  for (const place of actions.flatMap((action) => changeOf(action) ?? []))
    requireOnly(context, { plugin, only }, place);
}

/** Like `requireActionsReached`, for one change. A command that only reads may look into pods: `isLook`. */
export function requireChangeReached(
  { by = unnamed, block }: Starter,
  { asked, what, isLook = false }: { asked: Asked; what: string; isLook?: boolean },
  stored: Stored,
): void {
  if (!isLook && !mayChange(by)) throw new Failure("forbidden", `${what}: insufficient scope: requires actions`);
  const limit = appLimitOf(by);
  if (limit.apps.length === 0) return;
  const fault = changeFault(limit, within(limit, { asked, block }, stored));
  if (fault !== undefined) throw new Failure("forbidden", `${what}: ${fault}`);
}

function within(
  limit: AppLimit,
  { asked, block }: { asked: Asked; block: ManifestKey | undefined },
  stored: Stored,
): PlaceChange {
  const { kind, scope, name, spec } = asked;
  const isOwn = block !== undefined && mayReach(limit, block) && isOfBlock(stored, block, asked);
  if (kind === undefined) return { scope, name, isOwn };
  const key = { kind, scope, name };
  const stands = stored.manifests.get(key)?.spec;
  const isStored = stands === undefined ? {} : { stands };
  if (spec === undefined) return { ...key, isOwn, ...isStored };
  const { spec: whole } = restoreMasked(kind, spec, stands);
  return { ...key, isOwn, ...isStored, spec: whole };
}

/** What came from the block; nothing that is new, and no bucket that a stranger of the same name reads as well. */
function isOfBlock({ manifests, blocks }: Stored, block: ManifestKey, { kind, scope, name }: Asked): boolean {
  const owns = (key: ManifestKey) => {
    const owner = blocks.ownerOf(key);
    return owner !== undefined && keyText(owner) === keyText(block);
  };
  if (kind !== undefined) return owns({ kind, scope, name });
  const namesakes = manifests.list({ scope, name });
  return namesakes.length > 0 && namesakes.every(owns);
}

/** What an action changes on the server; undefined for what its caller does on their own machine. */
function changeOf(action: PlannedAction): Asked | undefined {
  switch (action.type) {
    case "config_set":
    case "config_unset":
      return { scope: action.scope, name: action.name };
    case "apply_manifest": {
      const { kind, scope, name, spec } = action.draft;
      return { kind, scope, name, spec: normaliseSpec(kind, spec) };
    }
    case "delete_manifest":
      return { kind: action.kind, scope: action.scope, name: action.name };
    case "run_job":
      return { kind: "job", scope: action.scope, name: action.name };
    case "exec_local":
    case "fetch_file":
      return undefined;
  }
}
