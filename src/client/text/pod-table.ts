import type { Degraded, PodRecord } from "../../orchestration/api/pods.ts";
import { ageOf } from "./time-text.ts";
import { isFinishedRun } from "../facts/look.ts";
import { podState } from "./progress.ts";
import type { TableSetup } from "./resource-table.ts";
import { printable, type Style } from "../basics/style.ts";
import { listText, tableText } from "../basics/table-text.ts";

/** Containers as a table. */
export function podTable(pods: readonly PodRecord[], { style, width, now }: TableSetup): string {
  const rows = pods.map((pod) => {
    const state = printable(podState(pod));
    return [pod.name, pod.kind, coloured(pod, state, style), ageOf(pod.started_at ?? pod.created_at, now), pod.image];
  });
  return tableText([["NAME", "KIND", "STATE", "AGE", "IMAGE"], ...rows], { width, head: style.dim });
}

/** Like `podTable`, with what an operator looks for first. */
export function psTable(pods: readonly PodRecord[], { style, width, now }: TableSetup): string {
  const rows = pods.map((pod) => [
    pod.name,
    pod.kind,
    coloured(pod, printable(podState(pod)), style),
    pod.ready ? "yes" : "no",
    pod.restarts === 0 ? "0" : style.yellow(String(pod.restarts)),
    ageOf(pod.started_at ?? pod.created_at, now),
    pod.image,
  ]);
  return tableText([["NAME", "KIND", "STATE", "READY", "RESTARTS", "AGE", "IMAGE"], ...rows], {
    width,
    head: style.dim,
  });
}

function coloured(pod: PodRecord, state: string, style: Style): string {
  if (pod.ready) return style.green(state);
  if (isFinishedRun(pod) && pod.exit_code === 0) return style.dim(state);
  return pod.running || pod.frozen ? style.yellow(state) : style.red(state);
}

/** Resources that the server cannot bring up, with the reason. */
export function degradedText(degraded: readonly Degraded[], { style, width }: TableSetup): string {
  const rows = degraded.map(({ kind, scope, name, reason }) => {
    return [[kind, scope, name].filter(Boolean).join("/"), printable(reason)];
  });
  const [first] = degraded;
  const look =
    first === undefined
      ? ""
      : `see: berth describe ${first.kind} ${[first.scope, first.name].filter(Boolean).join("/")}`;
  return [style.red("not healthy:"), listText(rows, { indent: "  ", width }), style.dim(look)].join("\n");
}
