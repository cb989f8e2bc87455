import { noMoreThan, parseArguments, referenceText } from "../../kit/arguments.ts";
import { backupCounts, backupsLine } from "../../kit/backups.ts";
import { bytesText, columns } from "../../kit/bytes.ts";
import { type Cluster, statusOf, tool } from "../../kit/cluster.ts";
import { ordinalOf } from "../../kit/controller.ts";
import { exposedLines } from "../../kit/expose.ts";
import { readLinks } from "../../kit/links.ts";
import { promotionState, troubleLines } from "../../kit/promotion-state.ts";
import { loadServer } from "../../kit/server.ts";
import type { Call, Outcome } from "../../kit.ts";
import { keys } from "../keys.ts";
import { redisKind } from "../server.ts";

/** `info SCOPE/NAME`: what runs, who follows whom, who is linked. No password is shown. */
export async function info(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["output"], short: { o: "output" } });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const statuses = await Promise.all(cluster.pods.map((pod) => statusOf(cluster, pod)));
  const end = Number(
    statuses[cluster.pods.findIndex((pod) => ordinalOf(pod) === cluster.primary)]?.one("position") ?? Number.NaN,
  );
  const pods = cluster.pods.map((pod, index) => {
    const status = statuses[index];
    const role = status?.one("role") ?? (pod.frozen ? "stopped" : pod.running ? "no answer" : "down");
    const behind = role === "standby" ? Math.max(end - Number(status?.one("position")), 0) : 0;
    const held = { keys: Number(status?.one("keys") ?? 0), bytes: Number(status?.one("bytes") ?? 0) };
    return {
      ordinal: ordinalOf(pod),
      role,
      ready: pod.ready,
      ...held,
      behind: Number.isNaN(behind) ? undefined : behind,
    };
  });
  const links = readLinks(cluster.config[keys.links]);
  const answering = statuses.find((status) => status !== undefined);
  const version = answering?.one("version") ?? "";
  const [promotion, connections] = await Promise.all([promotionState(cluster), connectionsOf(cluster)]);
  if (args.values.output === "json") {
    const where = cluster.config[keys.expose];
    const state = {
      ...(promotion === undefined ? {} : { promotion }),
      ...(where === undefined ? {} : { exposed: where }),
    };
    const json = {
      ...cluster.of,
      version,
      primary: cluster.primary,
      pods,
      links,
      connections,
      ...backupCounts(answering),
      ...state,
    };
    return { message: JSON.stringify(json, null, 2) };
  }
  const rows = pods.map(({ ordinal, role, ready, ...pod }) => {
    const behind = role === "standby" && pod.behind !== undefined ? bytesText(pod.behind) : "";
    return [String(ordinal), role, ready ? "yes" : "no", String(pod.keys), bytesText(pod.bytes), behind];
  });
  const leading = pods.filter(({ role }) => role === "primary").map(({ ordinal }) => ordinal);
  const lines = [
    `${referenceText(cluster.of)}  Redis ${version || "(no pod answers)"}`,
    ...troubleLines(cluster, { promotion, leading }),
    "",
    columns([["POD", "ROLE", "READY", "KEYS", "MEMORY", "BEHIND"], ...rows]),
    ...(links.length === 0
      ? []
      : ["", columns([["APP", "KEY", "USER"], ...links.map(({ app, key, user }) => [app, key, user])])]),
    "",
    ...exposedLines({ config: cluster.config, kind: redisKind }),
    ...(connections === undefined ? [] : [`connections: ${connections.used}`]),
    backupsLine(answering, cluster.config[keys.keep]),
  ];
  return { message: lines.join("\n") };
}

/** Connections of clients to the primary; undefined if it cannot be asked. */
async function connectionsOf(cluster: Cluster): Promise<{ used: number; max: number | undefined } | undefined> {
  const pod = cluster.pods.find((each) => each.running && ordinalOf(each) === cluster.primary);
  if (pod === undefined) return undefined;
  const said = await tool(cluster, { pod, args: ["shell", "info", "clients"], timeoutMs: 15_000 }).catch(() => "");
  const field = (name: string) => {
    const value = new RegExp(`^${name}:(\\d+)`, "m").exec(said)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  const used = field("connected_clients");
  return used === undefined ? undefined : { used, max: field("maxclients") };
}
