import { formatKey } from "../../orchestration/api/manifest.ts";
import type { Death, FailedRelease, FailedRun, Unready, Why } from "../../orchestration/api/why.ts";
import { exitMeaning, postFailure } from "../../base/pure/exit-code.ts";
import { ageOf, retryText, timeText } from "./time-text.ts";
import { eventRows } from "./event-text.ts";
import { frozenText, isEngineAway, isWell, reasonOf } from "../facts/look.ts";
import { coloured } from "./resource-status.ts";
import type { TableSetup } from "./resource-table.ts";
import { canaryFacts } from "./rollout-text.ts";
import { shownOnce, tookText } from "./run-text.ts";
import { printable, type Style } from "../basics/style.ts";
import { listText } from "../basics/table-text.ts";
import { isSaid } from "./said.ts";
import { nextSteps } from "./why-next.ts";

type WhySetup = TableSetup & {
  /** Most lines of output that are shown. */
  lines: number;
  /** What is wrong around it: see `troublesOf`. */
  troubles?: readonly string[];
};

interface Telling extends WhySetup {
  /** What the head of the screen says is wrong. */
  said: string;
  /** Why the newest release failed. */
  failed: string | undefined;
}

/** Everything known about the last death, failed rollout or failed run of a resource, on one screen. */
export function whyText(known: Why, setup: WhySetup): string {
  const { style } = setup;
  // What it was when the engine answered last says nothing of now.
  const why = isEngineAway({ ...known }) ? { ...known, phase: "unknown" } : known;
  return [
    `${style.bold(formatKey(why))}  ${stateText(why, style)}`.trimEnd(),
    ...now(why, setup),
    ...warnings(why, setup),
    ...(why.canary === undefined ? [] : [listText(canaryFacts(why.canary), { indent: "  " })]),
    ...(why.unready ?? []).flatMap((one) => unreadyPart(one, setup)),
    ...troubles(why, setup),
    ...changesPart(why, setup),
    "",
    style.bold("next"),
    ...nextSteps(why).map((step) => `  ${step}`),
  ].join("\n");
}

function stateText({ deleted, phase = "" }: Why, style: Style): string {
  if (deleted) return style.yellow("deleted");
  return isWell(phase) ? coloured(phase, style) : style.red(printable(phase));
}

/** What went wrong, the newest first. */
function troubles(why: Why, given: WhySetup): string[] {
  const { failed_release: release, failed_run: run, death, deaths } = why;
  const setup: Telling = { ...given, said: reasonNow(why), failed: release?.error };
  const parts = [
    ...(release === undefined
      ? []
      : [{ at: release.ended_at ?? release.started_at, text: releasePart(release, setup) }]),
    ...(run === undefined ? [] : [{ at: endOfRun(run) ?? "", text: runPart(run, setup) }]),
    ...(death === undefined ? [] : [{ at: death.at, text: deathPart(death, deaths, setup) }]),
  ];
  return parts.sort((a, b) => (Date.parse(b.at) || 0) - (Date.parse(a.at) || 0)).flatMap(({ text }) => text);
}

function unreadyPart({ replica_id: id, probe, check, since, got, logs, hint }: Unready, setup: WhySetup): string[] {
  const { style } = setup;
  const facts = [
    ["probe", `${probe}: ${printable(check)}`],
    ["got", style.red(printable(got))],
    ["since", agoText(since, setup)],
    ...hintRow(hint, style),
  ];
  return [
    "",
    style.bold(`replica ${id} runs and is not ready`),
    listText(facts, { indent: "  " }),
    ...output("last lines", logs, setup),
  ];
}

function reasonNow(why: Why): string {
  return why.phase === "ready" || why.phase === "asleep" ? "" : reasonOf({ ...why });
}

/** What is wrong at this moment, or that nothing is. */
function now(why: Why, { style, now: at }: WhySetup): string[] {
  const frozen = frozenText(why, why.frozen_ids);
  if (why.phase === "ready" && frozen !== "") return [`  ${style.yellow(printable(frozen))}`];
  if (why.phase === "asleep") return ["  it was not in use; the first request to its ingress starts it"];
  const reason = reasonNow(why);
  if (reason === "") return nothingKnown(why);
  const retry = why.next_retry_at === undefined ? "" : `; next try ${retryText(why.next_retry_at, at)}`;
  return [`  ${style.red(printable(reason))}${retry}`];
}

/** It counts as ready, and visitors get errors all the same. */
function warnings({ warnings: own = [] }: Why, { style, troubles = [] }: WhySetup): string[] {
  return [
    ...own.map((text) => `  ${style.yellow("!")} ${printable(text)}`),
    ...troubles.map((text) => `  ${style.red("✗")} ${text}`),
  ];
}

function nothingKnown({ kind, phase, death, failed_release: release, failed_run: run, unready = [] }: Why): string[] {
  if (kind === "ingress") return phase === "ready" ? ["  it is served, and a replica is ready"] : [];
  if (unready.length > 0 || death !== undefined || release !== undefined || run !== undefined) return [];
  const isJob = kind === "job" || kind === "cronjob";
  return [isJob ? "  no failed run is on record" : "  no death and no failed release is on record"];
}

function releasePart(release: FailedRelease, setup: Telling): string[] {
  const { style } = setup;
  const facts = [
    ...(isSaid(release.error, setup.said) ? [] : [["why", style.red(printable(release.error))]]),
    ["cause", release.cause],
    ...(release.image === undefined ? [] : [["image", printable(release.image)]]),
    ...exitRow("pre_command", release.pre_exit_code),
    ...exitRow("command", release.exit_code),
    ...exitRow("post_command", release.post_exit_code),
    ...(release.rolled_back_to === undefined ? [] : [["went back to", `release ${release.rolled_back_to}`]]),
  ];
  const when = agoText(release.ended_at ?? release.started_at, setup);
  const end = postFailure(release.post_exit_code) === undefined ? "failed" : "succeeded, its last command did not";
  return [
    "",
    `${style.bold(`release ${release.id} ${end}`)}  ${style.dim(when)}`,
    listText(facts, { indent: "  " }),
    ...output("output of its commands", release.output, setup),
  ];
}

function runPart(run: FailedRun, setup: WhySetup): string[] {
  const { style } = setup;
  const ended = endOfRun(run);
  const facts = [
    ["why", style.red(printable(run.error ?? run.status))],
    ...(run.started_at === undefined ? [] : [["exit code", exitText(processEnd(run), style)]]),
    ["trigger", run.instant === undefined ? run.trigger : `${run.trigger}, for ${timeText(run.instant)}`],
    ...(run.started_at === undefined ? [] : [["took", tookText(run, setup.now)]]),
    ...(run.attempt > 1 ? [["tries", String(run.attempt)]] : []),
  ];
  return [
    "",
    `${style.bold(`run ${run.run_id} ${run.status.replace("_", " ")}`)}  ${style.dim(ended === undefined ? "" : agoText(ended, setup))}`.trimEnd(),
    listText(facts, { indent: "  " }),
    ...output("last lines", run.tail, setup),
  ];
}

function endOfRun({ ended_at, started_at, instant }: FailedRun): string | undefined {
  return ended_at ?? started_at ?? instant;
}

/** -1 stands for a process that never ended by itself. */
function processEnd({ exit_code: code, signal }: FailedRun): Pick<Death, "exit_code" | "signal"> {
  if (code === undefined || code < 0) return {};
  return { exit_code: code, signal };
}

function exitRow(step: string, code: number | undefined): string[][] {
  // Below zero there is none: the reason is printed beside it.
  return code === undefined || code < 0 ? [] : [[step, `exit code ${code}`]];
}

function deathPart(death: Death, count: number, setup: Telling): string[] {
  const { style } = setup;
  // One that we gave up, or ended for its liveness probe, tells why before how.
  const isGivenUp = death.exit_code === undefined && !death.oom_killed;
  const facts = [
    ...(isSaid(death.reason, setup.said, setup.failed) ? [] : [["why", printable(death.reason)]]),
    ...(isGivenUp ? [] : [["exit code", exitText(death, style)]]),
    ...(death.oom_killed ? [["memory", style.red("killed: out of memory")]] : []),
    ["image", printable(death.image)],
    ...(count > 1 ? [["on record", `${count} deaths`]] : []),
    ...hintRow(death.hint, style),
  ];
  return [
    "",
    `${style.bold(`replica ${death.replica_id} ${endWord(death, isGivenUp)}`)}  ${style.dim(agoText(death.at, setup))}`,
    listText(facts, { indent: "  " }),
    ...output("last probes", death.probes, setup),
    ...output("last lines", death.logs, setup),
  ];
}

function hintRow(hint: string | undefined, style: Style): string[][] {
  return hint === undefined ? [] : [["hint", style.yellow(printable(hint))]];
}

function endWord({ killed }: Death, isGivenUp: boolean): string {
  if (killed === true) return "was killed";
  return isGivenUp ? "was given up" : "died";
}

function exitText({ exit_code: code, signal }: Pick<Death, "exit_code" | "signal">, style: Style): string {
  if (code === undefined) return "not known";
  const meaning = signal ?? exitMeaning(code);
  const text = meaning === undefined ? String(code) : `${code} (${meaning})`;
  return code === 0 ? text : style.red(text);
}

function agoText(iso: string, { now }: WhySetup): string {
  return `${timeText(iso)}, ${ageOf(iso, now)} ago`;
}

function output(title: string, lines: readonly string[], { style, lines: most }: WhySetup): string[] {
  const shown = most === 0 ? [] : lines.slice(-most);
  const told = shownOnce(shown, (times) => style.dim(`${times} times:`));
  return told.length === 0 ? [] : [`  ${style.dim(title)}`, ...told.map((line) => `    ${line}`)];
}

/** What can be a cause, or what a plugin did about it. Looks, sessions and the reconciler's own steps are none. */
const causes = new RegExp(
  `^(?:${[
    "(?:manifest|block|config|lock|unlock|preview|apply)(?:\\.|$)",
    "(?:build|image\\.pull|scale|restart|rebootstrap|sleep|wake|asset\\.changed|reference\\.changed)$",
    "pod\\.(?:start|stop|rebootstrap|files\\.write)$",
    "release\\.(?:run|rollback)$",
    "run\\.(?:start|cancel)$",
    "plugin\\.",
  ].join("|")})`,
);

/** An automatic rollback is reported with its release. */
function isCause({ action, actor }: Why["events"][number]): boolean {
  return causes.test(action) && !(action === "release.rollback" && actor === "reconciler");
}

function changesPart({ events }: Why, { style, width }: WhySetup): string[] {
  const changes = events.filter(isCause);
  if (changes.length === 0) return ["", `${style.bold("changed in the hour before")}  nothing`];
  return ["", style.bold("changed in the hour before"), listText(eventRows(changes), { indent: "  ", width })];
}
