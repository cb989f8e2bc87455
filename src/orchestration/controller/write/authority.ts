import { allowed, allowedBlock } from "../../../access/allowed.ts";
import { ownsMachine, type Principal, unnamed } from "../../../access/principal.ts";
import { Failure, type Problem } from "../../../base/wire/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import { restoreMasked } from "../../core/mask.ts";

/** What is wanted of one manifest, and what an installed plugin adds to it of itself. */
export interface Wanted {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  /** Marks, see `access/reach.ts`. */
  lent?: ReadonlySet<string> | undefined;
}

/** Marks of what a plugin adds of itself, by manifest: `kind/scope/name`. */
export type Lent = ReadonlyMap<string, ReadonlySet<string>>;

type FindStored = (key: ManifestKey) => { spec: Spec } | undefined;

/**
 * Refuses what the principal may not change. Ask before the first side effect, and once more in the transaction: by then
 * an operator may have taken away what stood. Fails `forbidden`.
 */
export function requireAllowed(by: Principal = unnamed, wanted: readonly Wanted[], stored: FindStored): void {
  for (const { key, problems } of refused(by, wanted, stored)) throwFirst(formatKey(key), problems);
}

/** The manifests of a change that the principal may not make, each with the reasons. */
export function refused(by: Principal = unnamed, wanted: readonly Wanted[], stored: FindStored) {
  if (ownsMachine(by)) return [];
  return wanted.flatMap((item) => {
    const { key, spec, lent } = item;
    const stands = stored(key)?.spec;
    const { spec: whole } = restoreMasked(key.kind, spec, stands);
    const problems = allowed(by, { kind: key.kind, stands, wanted: whole, lent });
    return problems.length === 0 ? [] : [{ ...item, problems }];
  });
}

/** The same for what a caller wrote into the block of a plugin, before its plugin reads it. */
export function requireAllowedBlock(
  by: Principal = unnamed,
  block: { ref: string; stands?: Spec; wanted: Spec },
): void {
  throwFirst(block.ref, allowedBlock(by, block));
}

/** Refuses a caller that may not change the server itself, such as its plugins. Fails `forbidden`. */
export function requireMachine(by: Principal = unnamed, what: string): void {
  if (!ownsMachine(by)) throw new Failure("forbidden", `${what} takes the scope admin`);
}

function throwFirst(ref: string, [problem]: readonly Problem[]): void {
  if (problem === undefined) return;
  throw new Failure("forbidden", `${ref}: ${problem.path}: ${problem.message}, which takes the scope admin`);
}
