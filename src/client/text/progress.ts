import type { PodRecord } from "../../orchestration/api/pods.ts";
import { shortDuration } from "./time-text.ts";
import { printable, type Style } from "../basics/style.ts";
import { scaledToZero } from "./resource-status.ts";
import { isFinishedRun } from "../facts/look.ts";
import { canaryLine, newReplicasText } from "./rollout-text.ts";
import { listText } from "../basics/table-text.ts";
import type { Look, Waited } from "../facts/wait.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

interface ProgressFrame {
  style: Style;
  elapsedMs: number;
  /** Counts up; turns the spinner. */
  tick: number;
}

/** The live block: a line a resource, under it a line a replica while it is not ready. */
export function progressBlock(round: readonly Waited[], frame: ProgressFrame): string[] {
  return round.flatMap((target) => {
    const mark = markOf(target, frame);
    const head = `${mark} ${target.ref}  ${frame.style.dim(summary(withoutStep(target), frame.elapsedMs))}`;
    if (target.look.state !== "pending") return [head];
    const rows = target.look.pods.map((pod) => [podId(pod), podState(pod)]);
    const { canary } = target.look;
    const step = canary === undefined ? [] : [`    ${canaryLine(canary)}`];
    return [head, ...step, ...(rows.length > 0 ? listText(rows, { indent: "    " }).split("\n") : [])];
  });
}

/** The line below tells the step, with its time. */
function withoutStep(target: Waited): Waited {
  const { canary } = target.look;
  const isTold = canary?.state === "waiting" || canary?.state === "paused";
  return isTold ? { ...target, look: { ...target.look, why: "", detail: undefined } } : target;
}

function markOf({ look }: Waited, { style, tick }: ProgressFrame): string {
  if (look.state === "ready") return style.green("✓");
  if (look.state === "failed" || look.state === "gone") return style.red("✗");
  return style.cyan(frames[tick % frames.length] ?? "");
}

function summary({ look }: Waited, elapsedMs: number): string {
  const count = look.wanted > 0 || look.phase !== "" ? readyText(look) : "waiting for the server";
  if (look.state !== "pending") return count;
  const why = detailOf(look);
  return `${count}  ${shortDuration(elapsedMs)}${why === "" ? "" : `  ${why}`}`;
}

/** How many are ready of those that are wanted; more than that are on their way out. */
export function readyText({ ready, wanted }: Pick<Look, "ready" | "wanted">): string {
  if (ready === 0 && wanted === 0) return scaledToZero;
  if (ready <= wanted) return `${ready}/${wanted} ready`;
  return wanted === 0 ? `${ready} still to stop` : `${wanted}/${wanted} ready, ${ready - wanted} still to stop`;
}

/** The reason without the count of ready replicas: that stands before it already. */
function detailOf({ why, detail }: Look): string {
  return printable(detail ?? why);
}

/** What changed between two rounds, a line each, for logs and pipes. The code that waited reports the end of the wait. */
export function progressLines(before: readonly Waited[], after: readonly Waited[]): string[] {
  return after.flatMap((target, index) => {
    const last = before[index];
    const told = [...stepPassed(last, target), ...replicaChanges(last, target)];
    const now = headline(target);
    return now === "" || (last !== undefined && now === headline(last)) ? told : [...told, now];
  });
}

/** What visitors of the new replicas got during a canary step that is over. */
function stepPassed(before: Waited | undefined, after: Waited): string[] {
  const canary = before?.look.canary;
  const isOver = canary !== undefined && canary.step !== after.look.canary?.step && after.look.state !== "failed";
  if (!isOver || canary.state !== "waiting" || canary.traffic === undefined) return [];
  return [
    `${after.ref}: canary step ${canary.step} of ${canary.steps.length} passed; ${newReplicasText(canary.traffic)}`,
  ];
}

function headline({ ref, look }: Waited): string {
  const why = detailOf(look);
  if (look.state !== "pending" || (look.phase === "" && why === "")) return "";
  if (look.phase === "") return `${ref}: ${why}`;
  return `${ref}: ${readyText(look)}${why === "" ? "" : `; ${why}`}`;
}

function replicaChanges(before: Waited | undefined, after: Waited): string[] {
  // What was well when the wait began is not news.
  const old = before?.look.pods ?? after.look.pods.filter((pod) => pod.ready);
  const known = new Map(old.map((pod) => [pod.name, podState(pod)]));
  const here = new Set(after.look.pods.map((pod) => pod.name));
  const moved = after.look.pods.filter((pod) => known.get(pod.name) !== podState(pod));
  const left = (before?.look.pods ?? []).filter((pod) => !here.has(pod.name));
  return [
    ...moved.map((pod) => `${after.ref}: replica ${podId(pod)} ${podState(pod)}`),
    ...left.map((pod) => `${after.ref}: replica ${podId(pod)} removed`),
  ];
}

function podId(pod: PodRecord): string {
  return pod.replica_id ?? pod.name;
}

/** A replica's condition in few words: `running, ready`, `restarting, exit code 1, 3 restarts`. */
export function podState(pod: PodRecord): string {
  const isStopping = pod.running && pod.stopping === true;
  const state = isStopping ? "stopping" : stateWord(pod);
  const byHand = pod.running && !isStopping ? " but started by hand" : "";
  const parts = [pod.frozen ? `${state}, frozen${byHand}` : state];
  if (pod.ready) parts.push("ready");
  else if (pod.running && !isStopping) parts.push("not ready yet");
  if (pod.oom_killed) parts.push("out of memory");
  else if (!pod.running && pod.exit_code !== undefined && pod.exit_code !== 0) parts.push(`exit code ${pod.exit_code}`);
  if (pod.restarts > 0) parts.push(pod.restarts === 1 ? "1 restart" : `${pod.restarts} restarts`);
  return parts.join(", ");
}

function stateWord(pod: PodRecord): string {
  if (!isFinishedRun(pod)) return pod.state;
  return pod.exit_code === 0 ? "succeeded" : "failed";
}
