import { type AtomicApply, getAtomicApply } from "../../orchestration/api/atomic.ts";
import { atomicText, undecidedText } from "../text/apply-outcome.ts";
import type { Context } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import { exitOf, watch } from "./follow.ts";
import { isPodKind, readyTarget } from "../facts/look.ts";
import { timeText } from "../text/time-text.ts";
import type { Look, WaitTarget } from "../facts/wait.ts";

interface Following {
  id: string;
  targets: readonly WaitTarget[];
  timeoutMs: number;
  context: Context;
}

/** Waits until the server has kept or put back an atomic apply, and then for what it has put back. */
export async function followAtomic({ id, targets, timeoutMs, context }: Following): Promise<number> {
  const ask = () => context.api.call(getAtomicApply, { params: { id } });
  const waited = await watch(
    targets.map((target) => asDecided(target, ask)),
    timeoutMs,
    context,
  );
  if (waited.outcome === "interrupted") return exitOf(waited);
  const isOver = waited.outcome === "ready" || waited.outcome === "failed";
  const group = isOver ? await decided(ask, timeoutMs, context) : await ask();
  const { terminal } = context;
  for (const line of atomicText(group, terminal.noteStyle)) terminal.note(line);
  if (group.state === "put_back") await watch(returned(group, context), timeoutMs, context);
  if (group.state === "put_back" || group.state === "stuck") return exitCodes.failed;
  return group.state === "waiting" && waited.outcome === "ready" ? exitCodes.timedOut : exitOf(waited);
}

/**
 * Over with the apply, not with the look: while the server waits, what fails is only on its way to failing, and what is
 * put back will not become what it was to be.
 */
function asDecided({ ref, look }: WaitTarget, ask: () => Promise<AtomicApply>): WaitTarget {
  let shown: string | undefined;
  return {
    ref,
    async look() {
      const seen = await look();
      if (seen.state === "ready" || seen.state === "gone") return seen;
      const { state, failed, resources } = await ask();
      if (state === "waiting" && seen.rolledBackTo === undefined) {
        shown = steadyTime(shown, resources.find((one) => one.ref === ref)?.until);
        return { ...seen, state: "pending", ...untilText(seen, shown) };
      }
      if (state !== "put_back") return seen;
      const back = seen.rolledBackTo === undefined ? "put back, because " : "";
      // The reason of the one that failed is printed below: its release may only say that another took its place.
      const why = failed === ref ? "" : `${back}another resource failed`;
      return { ...seen, state: "failed", why, detail: undefined };
    },
  };
}

/** Two clocks make the instant: a second of difference does not count. */
const sameMs = 2_000;

function steadyTime(shown: string | undefined, until: string | undefined): string | undefined {
  if (shown === undefined || until === undefined) return until;
  return Math.abs(Date.parse(until) - Date.parse(shown)) < sameMs ? shown : until;
}

/** What it waits for, and how long the server does. */
function untilText({ why, detail }: Look, until: string | undefined): Pick<Look, "why" | "detail"> {
  if (until === undefined) return { why, detail };
  const end = `the server gives up at ${timeText(until)} at the latest`;
  const withEnd = (text: string) => (text === "" ? end : `${text}; ${end}`);
  return { why: withEnd(why), detail: detail === undefined ? undefined : withEnd(detail) };
}

const looksInSilence = 2;

/** The server decides a moment after the last resource has settled. */
async function decided(ask: () => Promise<AtomicApply>, timeoutMs: number, context: Context): Promise<AtomicApply> {
  const { clock, limits, signal } = context;
  const deadline = clock.now() + timeoutMs;
  for (let looks = 0; ; looks++) {
    const group = await ask();
    if (looks === looksInSilence) context.terminal.note(`${undecidedText}; waiting for it`);
    if (group.state !== "waiting" || clock.now() >= deadline || signal.aborted) return group;
    await clock.sleep(limits.pollMs, signal);
  }
}

function returned({ resources }: AtomicApply, { api }: Context): WaitTarget[] {
  return resources.flatMap(({ ref, fate, revision }) => {
    const [kind = "", scope = "", name = ""] = ref.split("/");
    if (!isPodKind(kind) || revision === undefined || fate !== "put_back") return [];
    return [readyTarget(api, { kind, scope, name }, { revision, unchanged: false })];
  });
}
