import { protectionOf } from "../../backups/api/protection.ts";
import { stringify } from "yaml";
import { postFailure } from "../../base/pure/exit-code.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import type { describe } from "../../orchestration/api/describe.ts";
import type { JobRun } from "../../orchestration/api/jobs.ts";
import type { Canary } from "../../orchestration/api/rollouts.ts";
import type { PodDetail } from "../../orchestration/api/pods.ts";
import { MASK } from "../../orchestration/core/mask.ts";
import { digestOf } from "../facts/digest.ts";
import { ageOf, retryText, timeText } from "./time-text.ts";
import { isPodKind, isReplica, reasonOf } from "../facts/look.ts";
import { type CopiedApp, drillText, protectText } from "./protection-text.ts";
import { podTable } from "./pod-table.ts";
import { childrenOf, isScaledToZero, phaseText, portsText, scaledToZero } from "./resource-status.ts";
import type { TableSetup } from "./resource-table.ts";
import { canaryFacts } from "./rollout-text.ts";
import { runTable } from "./run-text.ts";
import { printable, type Style } from "../basics/style.ts";
import { isSaid } from "./said.ts";
import { takenBackText } from "../facts/taken-back.ts";
import { listText, tableText } from "../basics/table-text.ts";

type Description = DataOf<typeof describe>;

interface Setup extends TableSetup {
  reveal: boolean;
  troubles?: readonly string[];
  /** What is known of the copies of its volumes. */
  backup?: CopiedApp | undefined;
}

/** One resource: what it is, how it is, its pods, and what is wrong. */
export function describeText(
  { manifest, status, pods, volumes, block, hints = [], errors }: Description,
  setup: Setup,
): string {
  const { style, troubles = [] } = setup;
  const { kind, scope = "", name, metadata } = manifest;
  const facts = [
    ["revision", String(metadata?.revision ?? "-")],
    ...(block === undefined ? [] : [["of block", printable(block)]]),
    ["created", `${ageOf(metadata?.created_at, setup.now)} ago`],
    ["changed", `${ageOf(metadata?.updated_at, setup.now)} ago`],
    ...statusFacts(status, setup),
    ...troubles.map((text) => ["trouble", style.red(text)]),
    ...placeFacts(manifest, pods),
    ...protectionFacts(setup),
    ...lastFailure(status, { ref: [scope, name].filter(Boolean).join("/"), style }),
  ];
  const replicas = pods.filter(isReplica);
  const others = pods.filter((pod) => !isReplica(pod));
  return [
    `${style.bold(formatKey({ kind, scope, name }))}  ${phaseText(status, style)}`.trimEnd(),
    listText(facts, { indent: "  ", width: setup.width }),
    // Rows are cut to the screen, and a hint ends with what to type.
    ...hints.map((text) => `  ${style.yellow(`! ${printable(text)}`)}`),
    ...section("runs", runsText(status, setup), style),
    ...section("conditions", conditionsText(status, setup), style),
    ...section("pods", replicas.length === 0 ? "" : podTable(replicas, setup), style),
    ...section("other containers", others.length === 0 ? "" : podTable(others, setup), style),
    ...section("volumes", (volumes ?? []).map((volume) => `  ${volume}`).join("\n"), style),
    ...section("spec", indented(specText(manifest.spec, setup.reveal)), style),
    ...(errors ?? []).map((error) => style.yellow(`! ${printable(error)}`)),
  ].join("\n");
}

/** The name that other pods reach it by, and where its ports are on the server. */
function placeFacts({ kind, scope = "", name, spec }: Description["manifest"], pods: Description["pods"]): string[][] {
  if (!isPodKind(kind) || spec.network_mode === "host" || spec.network_mode === "none") return [];
  const published = portsText(pods.filter(isReplica).flatMap((pod) => pod.ports ?? []));
  const address = (scope === "" ? name : `${name}.${scope}`).toLowerCase();
  return [["address", `${address} (for other pods)`], ...(published === "" ? [] : [["ports", published]])];
}

/** Whether copies of its volumes leave the machine, and how the newest of each volume to each target went. */
function protectionFacts({ style, backup }: Pick<Setup, "style" | "backup">): string[][] {
  if (backup === undefined) return [];
  const { scope, name, every = "", target = "every target", volumes, drill } = backup;
  const word = protectionOf(backup);
  if (word === "not protected") return [["backup", style.yellow(`not protected: ${protectText}`)]];
  if (word === "no target")
    return [["backup", style.yellow("nothing is copied: there is no target; see: berth backup target add --help")]];
  const facts = [["backup", printable(`every ${every} to ${target}`)]];
  const copies = volumes.flatMap(({ volume, copies: its }) => its.map((copy) => ({ ...copy, volume })));
  const failed = copies.find(({ error }) => error !== undefined);
  const oldest = copies.flatMap(({ at = [] }) => at).sort()[0];
  if (failed !== undefined) {
    const text = `${scope}/${name}/${failed.volume} to ${failed.target} failed: ${failed.error}`;
    facts.push(["last copy", style.red(printable(text))]);
  } else if (oldest !== undefined) facts.push(["last copy", timeText(oldest)]);
  if (drill?.ended_at !== undefined) facts.push(["last drill", drillText(drill, style)]);
  return facts;
}

/** `statefulset/data/main ready`; files that are there go without saying. */
function childTexts(status: Description["status"]): string[] {
  const told = childrenOf(status).filter(({ ref, phase }) => !ref.startsWith("asset/") || phase !== "ready");
  return told.map(({ ref, phase }) => printable(`${ref} ${phase}`.trim()));
}

function statusFacts(status: Description["status"], { style, now }: TableSetup): string[][] {
  if (status === null) return [["status", "the server has not looked at it yet"]];
  const rows: string[][] = [];
  if (typeof status.image === "string") rows.push(["image", printable(status.image)]);
  if (typeof status.plugin === "string") rows.push(["plugin", printable(`${status.plugin} ${status.version ?? ""}`)]);
  for (const child of childTexts(status)) rows.push(["became", child]);
  if (typeof status.replicas === "number") rows.push(["replicas", replicasText(status)]);
  if (typeof status.schedule === "string") rows.push(["schedule", printable(`${status.schedule} ${status.timezone}`)]);
  if (typeof status.next_run === "string") rows.push(["next run", timeText(status.next_run)]);
  if (typeof status.last_run === "string") rows.push(["last run", timeText(status.last_run)]);
  const reason = printable(reasonOf(status));
  const isFault = status.phase !== "progressing" && status.phase !== "asleep";
  if (reason !== "") rows.push(!isFault ? ["now", reason] : ["reason", style.red(reason)]);
  if (status.canary !== undefined) rows.push(...canaryFacts(status.canary as Canary));
  if (typeof status.next_retry_at === "string") rows.push(["next try", retryText(status.next_retry_at, now)]);
  for (const warning of listOf(status.warnings)) rows.push(["warning", style.yellow(printable(String(warning)))]);
  return rows;
}

/** The row `reason` or `now`. */
function shownReason(status: Description["status"]): string {
  return status === null ? "" : reasonOf(status);
}

/** The newest release, where it failed: what runs after a rollback looks well, and is not what was asked for. */
function lastFailure(status: Description["status"], { ref, style }: { ref: string; style: Style }): string[][] {
  const [newest, before] = listOf(status?.releases).map(asObject);
  const back = newest?.cause === "auto_rollback" && before?.status === "failed";
  const failed = back ? before : newest;
  const post = postFailure(typeof newest?.post_exit_code === "number" ? newest.post_exit_code : undefined);
  if (post !== undefined) return [["last release", `${style.yellow(`succeeded, but ${post}`)}; see: berth why ${ref}`]];
  if (failed?.status !== "failed") return [];
  const isTold = isSaid(failed.error, shownReason(status));
  const reason = typeof failed.error === "string" && !isTold ? `: ${printable(failed.error)}` : "";
  const row = ["last release", `${style.red(`failed${back ? ", rolled back" : ""}${reason}`)}; see: berth why ${ref}`];
  const taken = back ? takenBackText(newest, before) : "";
  return taken === "" ? [row] : [row, ["taken back", taken]];
}

/** Runs of a job or cron job, newest first. */
function runsText(status: Description["status"], setup: TableSetup): string {
  const runs = listOf(status?.history);
  return runs.length === 0 ? "" : runTable(runs as JobRun[], setup);
}

function replicasText(status: Record<string, unknown>): string {
  if (isScaledToZero(status)) return scaledToZero;
  const frozen = Number(status.frozen_replicas) > 0 ? `, ${status.frozen_replicas} frozen` : "";
  // While replicas are replaced there are more than are wanted.
  const ready = Math.min(Number(status.ready_replicas), Number(status.replicas));
  return `${ready} of ${status.replicas} ready, ${status.updated_replicas} up to date${frozen}`;
}

function conditionsText(status: Description["status"], { style, width, now }: TableSetup): string {
  const conditions = listOf(status?.conditions).map(asObject);
  const rows = conditions.map(({ type, status: is, reason, message, at }, index) => {
    const before = conditions.slice(0, index).map((other) => String(other.message ?? ""));
    const text = isSaid(message, shownReason(status), ...before) ? "as above" : message;
    const words = [type, is ? "yes" : "no", reason, ageOf(String(at), now), text];
    return words.map((word) => printable(String(word ?? "-")));
  });
  if (rows.length === 0) return "";
  return tableText([["TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"], ...rows], { width, head: style.dim });
}

function section(title: string, text: string, style: Style): string[] {
  return text === "" ? [] : ["", style.bold(title), text];
}

/** Any answer as YAML. */
export function yamlText(data: unknown): string {
  return stringify(data, { lineWidth: 0 }).trimEnd();
}

/** The spec as YAML; what the server stamps on it is left out, environment values are digests unless `reveal`. */
function specText(spec: Record<string, unknown>, reveal: boolean): string {
  const own = Object.fromEntries(
    Object.entries(spec)
      .filter(([key]) => !key.startsWith("_"))
      .map(([key, value]) => [key, reveal ? value : hideEnvironment(key, value)]),
  );
  if (Object.keys(own).length === 0) return "";
  // YAML itself leaves characters in that drive a terminal or turn the direction of a text.
  const lines = stringify(own, { lineWidth: 0 }).trimEnd().split("\n");
  return lines.map(printable).join("\n");
}

function hideEnvironment(key: string, value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([inner, content]) => {
      return [inner, key === "env" ? digestOf(String(content)) : hideEnvironment(inner, content)];
    }),
  );
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** One container in detail. Environment values only with `reveal`. */
export function podText(pod: PodDetail, setup: TableSetup & { reveal: boolean }): string {
  const { style, width, now } = setup;
  const facts = [
    ["resource", [pod.kind, pod.scope, pod.resource_name].filter(Boolean).join("/")],
    ["replica", pod.replica_id ?? "-"],
    ["state", `${pod.state.status}${pod.ready ? ", ready" : ""}${pod.frozen ? ", frozen" : ""}`],
    ...(pod.state.error ? [["error", style.red(printable(pod.state.error))]] : []),
    ...(pod.state.oom_killed ? [["", style.red("killed: out of memory")]] : []),
    ...(pod.running ? [] : [["exit code", String(pod.state.exit_code ?? "-")]]),
    ["restarts", String(pod.state.restarts ?? 0)],
    ["started", `${ageOf(pod.state.started_at, now)} ago`],
    ["image", pod.image],
    ["command", printable([...pod.entrypoint, ...pod.command].join(" "))],
    ["ports", pod.ports.map((port) => `${port.host_ip}:${port.host_port} → ${port.container}`).join(", ") || "-"],
    [
      "networks",
      Object.entries(pod.networks)
        .map(([name, { ip_address }]) => `${name} ${ip_address}`)
        .join(", ") || "-",
    ],
  ];
  const mounts = pod.mounts.map(({ destination, source, rw }) => [destination, source, rw ? "" : "read-only"]);
  const env = Object.entries(pod.env)
    .sort()
    .map(([key, value]) => [key, setup.reveal || value === MASK ? printable(value) : digestOf(value)]);
  return [
    style.bold(pod.name),
    listText(facts, { indent: "  ", width }),
    ...section("mounts", mounts.length === 0 ? "" : listText(mounts, { indent: "  ", width }), style),
    ...section("environment", env.length === 0 ? "" : listText(env, { indent: "  ", width }), style),
  ].join("\n");
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
