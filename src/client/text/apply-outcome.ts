import type { AtomicApply } from "../../orchestration/api/atomic.ts";
import type { ApplyResult, PlanRow } from "../../orchestration/api/apply.ts";
import { printable, type Style } from "../basics/style.ts";
import { listText } from "../basics/table-text.ts";
import type { WaitResult, Waited } from "../facts/wait.ts";

/**
 * What became of each resource of an apply of which one failed: the others stay changed, and a user who reads only the
 * failure would not know. Empty where there is nothing else to know.
 */
export function partialText(plan: ApplyResult, { targets }: WaitResult, style: Style): string[] {
  const rows = (plan.plan ?? []).filter(({ action }) => action !== "unchanged");
  const looks = new Map(targets.map((target) => [target.ref, target]));
  const failed = rows.filter(({ ref }) => isFailed(looks.get(ref)));
  if (failed.length === 0 || failed.length === rows.length) return [];
  const table = rows.map((row) => [printable(row.ref), `${done[row.action]}${fate(looks.get(row.ref))}`]);
  return [
    style.bold(`${failed.length} of ${rows.length} resources failed; the others stay changed:`),
    listText(table, { indent: "  " }),
    "  to put all of them back when one fails: berth apply --atomic",
  ];
}

const done: Record<PlanRow["action"], string> = {
  create: "created",
  update: "changed",
  delete: "deleted",
  unchanged: "unchanged",
};

function isFailed(target: Waited | undefined): boolean {
  return target?.look.state === "failed" || target?.look.state === "gone";
}

function fate(target: Waited | undefined): string {
  if (target === undefined) return "";
  const { look } = target;
  if (look.state === "ready") return look.phase === "asleep" ? ", asleep" : ", ready";
  if (look.rolledBackTo !== undefined) return `, failed, rolled back to ${printable(look.rolledBackTo)}`;
  if (look.state === "failed") return ", failed";
  return look.state === "gone" ? ", gone" : ", not ready yet";
}

/** A user who does not wait needs no warning. */
export const undecidedText = "not decided yet: the server keeps all of it or puts all of it back";

/** How an atomic apply ended, resource by resource where it did not go through. */
export function atomicText({ state, error, resources }: AtomicApply, style: Style): string[] {
  if (state === "kept") return [];
  const rows = resources.map(({ ref, outcome = "still changed" }) => [printable(ref), printable(outcome)]);
  const why = printable(error ?? "");
  if (state === "waiting") {
    return [style.yellow(`${undecidedText}; see: berth events`)];
  }
  const head =
    state === "put_back"
      ? style.red(`everything was put back, because ${why}`)
      : style.red(`one resource failed, and the others could not be put back: ${why}`);
  return [
    head,
    listText(rows, { indent: "  " }),
    "  what cannot be put back: release commands, jobs and webhooks that ran, and what apps wrote meanwhile",
  ];
}
