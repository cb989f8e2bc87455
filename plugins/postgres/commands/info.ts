import { noMoreThan, parseArguments, referenceText } from "../../kit/arguments.ts";
import { backupCounts, backupsLine } from "../../kit/backups.ts";
import { bytesText, columns } from "../../kit/bytes.ts";
import { type Cluster, readStatus, type Status, statusOf } from "../../kit/cluster.ts";
import { ordinalOf } from "../../kit/controller.ts";
import { exposedLines } from "../../kit/expose.ts";
import { readLinks } from "../../kit/links.ts";
import { type PromotionState, promotionState, troubleLines } from "../../kit/promotion-state.ts";
import { loadServer } from "../../kit/server.ts";
import type { Call, Outcome } from "../../kit.ts";
import { postgresKind } from "../server.ts";
import { keys } from "../keys.ts";

interface PodInfo {
  ordinal: number;
  /** primary, standby, or why it cannot be said. */
  role: string;
  ready: boolean;
  /** Bytes behind the primary; undefined where unknown. */
  lag: number | undefined;
}

/** WAL on its way to a target; undefined for a block without point_in_time. */
interface OnItsWay {
  waiting_bytes: number;
  /** ISO 8601: when the newest base backup was begun. */
  base_at?: string | undefined;
  /** ISO 8601: WAL is missing since then, until the next base backup. */
  missing_since?: string | undefined;
}

function onItsWay(primary: Status): OnItsWay | undefined {
  const outbox = Number.parseInt(primary.one("outbox"), 10);
  if (Number.isNaN(outbox)) return undefined;
  const timeOf = (key: string) => {
    const seconds = Number.parseInt(primary.one(key), 10);
    return Number.isNaN(seconds) ? undefined : new Date(seconds * 1000).toISOString();
  };
  return { waiting_bytes: outbox * 1024, base_at: timeOf("base"), missing_since: timeOf("dropped") };
}

function onItsWayLines(way: OnItsWay | undefined): string[] {
  if (way === undefined) return [];
  const gap = `WAL IS MISSING since ${way.missing_since}: the target took too little; times from then on cannot be restored until the next base backup`;
  const base = way.base_at === undefined ? "no base backup yet" : `newest base backup ${way.base_at}`;
  const lines = [`point in time: ${base}, ${bytesText(way.waiting_bytes)} of WAL wait for the target`];
  return way.missing_since === undefined ? lines : [...lines, gap];
}

/** `info SCOPE/NAME`: what runs, who follows whom, who is linked. No password is shown. */
export async function info(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["output"], short: { o: "output" } });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const statuses = await Promise.all(cluster.pods.map((pod) => statusOf(cluster, pod)));
  const at = cluster.pods.findIndex((pod) => ordinalOf(pod) === cluster.primary);
  const primary = statuses[at] ?? readStatus("");
  const pods = cluster.pods.map((pod, index): PodInfo => {
    const role = statuses[index]?.one("role") ?? (pod.frozen ? "stopped" : pod.running ? "no answer" : "down");
    return { ordinal: ordinalOf(pod), role, ready: pod.ready, lag: lagOf(primary, ordinalOf(pod)) };
  });
  const promotion = await promotionState(cluster);
  const connections = connectionsOf(primary);
  if (args.values.output === "json") {
    const json = { ...asJson(cluster, primary, pods), connections, ...(promotion === undefined ? {} : { promotion }) };
    return { message: JSON.stringify(json, null, 2) };
  }
  return { message: asText(cluster, primary, { pods, promotion, connections }) };
}

interface Connections {
  used: number;
  max: number;
}

/** Connections of clients to the primary; undefined if it does not report them, as with scripts of older blocks. */
function connectionsOf(primary: Status): Connections | undefined {
  const [used = Number.NaN, max = Number.NaN] = primary.one("connections").split(" ").map(Number);
  return Number.isInteger(used) && Number.isInteger(max) ? { used, max } : undefined;
}

function lagOf(primary: Status, ordinal: number): number | undefined {
  const line = primary.all("standby").find((text) => text.startsWith(`pod-${ordinal} `));
  const bytes = line?.split(" ")[2];
  return bytes === undefined || bytes === "-" ? undefined : Number(bytes);
}

function databasesOf(primary: Status) {
  return primary.all("database").map((line) => {
    const [name = "", bytes = "0", owner = ""] = line.split(" ");
    return { name, bytes: Number(bytes), owner };
  });
}

function asJson(cluster: Cluster, primary: Status, pods: PodInfo[]) {
  return {
    ...cluster.of,
    version: primary.one("version"),
    primary: cluster.primary,
    pods,
    databases: databasesOf(primary),
    users: primary.all("user"),
    links: readLinks(cluster.config[keys.links]),
    ...backupCounts(primary),
    point_in_time: onItsWay(primary),
    ...(cluster.config[keys.expose] === undefined ? {} : { exposed: cluster.config[keys.expose] }),
  };
}

interface Shown {
  pods: PodInfo[];
  promotion: PromotionState | undefined;
  connections: Connections | undefined;
}

function asText(cluster: Cluster, primary: Status, { pods, promotion, connections }: Shown): string {
  const leading = pods.filter(({ role }) => role === "primary").map(({ ordinal }) => ordinal);
  const links = readLinks(cluster.config[keys.links]);
  const podRows = pods.map(({ ordinal, role, ready, lag }) => {
    return [String(ordinal), role, ready ? "yes" : "no", lag === undefined ? "" : bytesText(lag)];
  });
  const databases = databasesOf(primary).map(({ name, bytes, owner }) => [name, bytesText(bytes), owner]);
  return [
    `${referenceText(cluster.of)}  PostgreSQL ${primary.one("version") || "(the primary does not answer)"}`,
    ...troubleLines(cluster, { promotion, leading }),
    "",
    columns([["POD", "ROLE", "READY", "BEHIND"], ...podRows]),
    ...(databases.length === 0 ? [] : ["", columns([["DATABASE", "SIZE", "OWNER"], ...databases])]),
    ...(links.length === 0
      ? []
      : ["", columns([["APP", "KEY", "USER"], ...links.map(({ app, key, user }) => [app, key, user])])]),
    "",
    ...exposedLines({ config: cluster.config, kind: postgresKind }),
    ...(connections === undefined ? [] : [`connections: ${connections.used} of ${connections.max}`]),
    backupsLine(primary, cluster.config[keys.keep]),
    ...onItsWayLines(onItsWay(primary)),
  ].join("\n");
}
