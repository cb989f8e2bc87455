import type { Problem } from "../base/wire/failure.ts";
import type { CoreKind, Spec } from "../orchestration/api/manifest.ts";
import { ownsMachine, type Principal } from "./principal.ts";
import { type Reach, reachOf, reachOfBlock } from "./reach.ts";

/** One manifest as it is stored and as it is wanted. */
interface Change {
  kind: CoreKind;
  /** What is stored under its identity; undefined where nothing is. */
  stands: Spec | undefined;
  wanted: Spec;
  /** Marks of what an installed plugin adds of itself, see `reachOf`. */
  lent?: ReadonlySet<string> | undefined;
}

/**
 * What of a change a principal may not make, each with its path. Without the machine's own rights nothing that reaches
 * the machine may come in; what stands unchanged at the same path stays.
 */
export function allowed(principal: Principal, { kind, stands, wanted, lent }: Change): Problem[] {
  if (ownsMachine(principal)) return [];
  const standing = () => (stands === undefined ? [] : reachOf({ kind, spec: stands }));
  return news(reachOf({ kind, spec: wanted }), standing)
    .filter(({ mark }) => lent?.has(mark) !== true)
    .map(problemOf);
}

/** The same for the block of a plugin: what a plugin could take for the operator's own word. */
export function allowedBlock(
  principal: Principal,
  { stands, wanted }: { stands?: Spec | undefined; wanted: Spec },
): Problem[] {
  if (ownsMachine(principal)) return [];
  return news(reachOfBlock(wanted), () => reachOfBlock(stands ?? {})).map(problemOf);
}

function news(reaching: readonly Reach[], standing: () => readonly Reach[]): readonly Reach[] {
  if (reaching.length === 0) return [];
  const marks = new Set(standing().map(({ mark }) => mark));
  return reaching.filter(({ mark }) => !marks.has(mark));
}

function problemOf({ path, value, what }: Reach): Problem {
  return { path, message: `"${value.slice(0, shownMax)}" ${what}` };
}

const shownMax = 200;
