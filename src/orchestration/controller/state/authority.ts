import { allowed, allowedBlock, type Guard } from "../../../access/allowed.ts";
import { ownsMachine, type Principal, unnamed } from "../../../access/principal.ts";
import { reachOf } from "../../../access/reach.ts";
import { Failure, type Problem } from "../../../base/wire/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import { restoreMasked } from "../../core/mask.ts";
import type { Transaction } from "../../store/store.ts";

/** What is wanted of one manifest. */
export interface Wanted {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  /** Set for a manifest that a plugin makes now. The store knows which plugin made the others. */
  guard?: Guard | undefined;
}

/** What is stored, inside of a transaction or outside. */
interface Stored {
  manifests: Pick<Transaction["manifests"], "get">;
  blocks: Pick<Transaction["blocks"], "ownerOf" | "children">;
}

/**
 * Refuses what the principal may not change. Ask before the first side effect, and once more in the transaction: by then
 * an operator may have taken away what stood. Fails `forbidden`.
 */
export function requireAllowed(by: Principal = unnamed, wanted: readonly Wanted[], stored: Stored): void {
  for (const { key, problems } of refused(by, wanted, stored)) throwFirst(formatKey(key), problems);
}

/** The manifests of a change that the principal may not make, each with the reasons. */
export function refused(by: Principal = unnamed, wanted: readonly Wanted[], stored: Stored) {
  if (ownsMachine(by)) return [];
  return wanted.flatMap((item) => {
    const { key, spec } = item;
    const stands = stored.manifests.get(key)?.spec;
    const { spec: whole } = restoreMasked(key.kind, spec, stands);
    const guard = item.guard ?? guardOf(stored, key);
    const problems = allowed(by, { kind: key.kind, stands, wanted: whole, guard });
    return problems.length === 0 ? [] : [{ ...item, problems }];
  });
}

/** Whether a manifest is one that a plugin made beside one that reaches the machine. Its guard ends with the block that it is of. */
export function isGuarded(stored: Stored, key: ManifestKey): boolean {
  return guardOf(stored, key) !== undefined;
}

function guardOf({ manifests, blocks }: Stored, key: ManifestKey): Guard | undefined {
  const owner = blocks.ownerOf(key);
  const family = owner === undefined ? [] : blocks.children(owner);
  const reaches = family.some((child) => {
    const stored = manifests.get(child);
    return stored !== undefined && reachOf(stored).length > 0;
  });
  return reaches ? {} : undefined;
}

/** The same for what a caller wrote into the block of a plugin, before its plugin reads it. */
export function requireAllowedBlock(
  by: Principal = unnamed,
  block: { ref: string; stands?: Spec; wanted: Spec },
): void {
  throwFirst(block.ref, allowedBlock(by, block));
}

/** Whether what the server does later for this caller needs to stay within lesser rights. */
export function hasLesserRights(by: Principal = unnamed): boolean {
  return !ownsMachine(by);
}

/** Refuses a caller that may not change the server itself, such as its plugins. Fails `forbidden`. */
export function requireMachine(by: Principal = unnamed, what: string): void {
  if (!ownsMachine(by)) throw new Failure("forbidden", `${what} takes the scope admin`);
}

function throwFirst(ref: string, [problem]: readonly Problem[]): void {
  if (problem === undefined) return;
  throw new Failure("forbidden", `${ref}: ${problem.path}: ${problem.message}, which takes the scope admin`);
}
