import type { Cluster } from "./cluster.ts";

import { nobody, type Note, readNote } from "./note.ts";

/** A promotion that has not come to its end, as `info` shows it. */
export interface PromotionState extends Omit<Note, "undo"> {
  /** `cut off`: the run that began it is over, and the server is about to finish or undo it. */
  state: "under way" | "cut off";
}

/** Undefined where there is none. */
export async function promotionState(cluster: Cluster): Promise<PromotionState | undefined> {
  const note = readNote(cluster);
  if (note === undefined) return undefined;
  const { undo: _, ...rest } = note;
  const isRunning = await cluster.controller.runs(note.run);
  return { ...rest, state: isRunning ? "under way" : "cut off" };
}

/** Lines for people: a promotion that is not at its end, and a primary that is not where the config says. */
export function troubleLines(
  cluster: Cluster,
  { promotion, leading }: { promotion: PromotionState | undefined; leading: readonly number[] },
): string[] {
  const { promote } = cluster.kind;
  if (promotion !== undefined) {
    const { from, to, at, state } = promotion;
    const who = from === nobody ? `pod ${to}` : `from pod ${from} to pod ${to}`;
    const next = state === "cut off" ? "; the server is about to finish or undo it" : "";
    return [`promotion ${who} since ${at}: ${state}${next}`];
  }
  if (leading.length > 1) return [`pods ${leading.join(" and ")} both take writes; stop the one you do not want`];
  const [found] = leading;
  if (found === undefined || found === cluster.primary) return [];
  return [`the config names pod ${cluster.primary}, and pod ${found} takes writes; settle it with: ${promote}`];
}
