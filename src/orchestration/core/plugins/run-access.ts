import { bringDatabase, databasePoints, planDatabaseRestore } from "../../../backups/api/databases.ts";
import type { Endpoint } from "../../../base/wire/endpoint.ts";
import { apply, deleteManifest, listManifests } from "../../api/apply.ts";
import { getConfig, setConfig, unsetConfig } from "../../api/config.ts";
import { describe } from "../../api/describe.ts";
import { dispatchPlugin, listPluginRuns } from "../../api/dispatch.ts";
import { listEvents } from "../../api/events.ts";
import { execPod, getExec } from "../../api/exec.ts";
import { health, system } from "../../api/health.ts";
import { cancelRun, getRun, listRuns, runCronjob, runJob } from "../../api/jobs.ts";
import { podLogs, scopeLogs } from "../../api/logs.ts";
import { getPod, listPods, podReady, startPod, stopPod } from "../../api/pods.ts";
import { listReleases, rollback, runRelease } from "../../api/releases.ts";
import { deleteResource } from "../../api/resource.ts";
import { getOperation, restart } from "../../api/restart.ts";
import { scale } from "../../api/scale.ts";
import { wake } from "../../api/wake.ts";
import { listStats } from "../../api/stats.ts";
import { why } from "../../api/why.ts";
import type { ActionType } from "../../api/plugins/action.ts";
import type { PluginPermissions } from "../../api/plugins/plugin-yml.ts";

/** What a call of a plugin's run is about: parts of its query, or of its path. */
export interface CallPlace {
  scope?: string;
  name?: string;
  /** Name of a pod. */
  pod?: string;
  /** Id of a run of a job. */
  run?: string;
}

/** What a run must have been granted for a call of the orchestration API. */
export type CallNeed =
  | { type: "nothing" }
  /** A granted scope. */
  | { type: "scope"; place: CallPlace }
  /** A block of the plugin's own, or what would let it write that config. */
  | { type: "config"; place: CallPlace }
  | { type: "action"; action: ActionType; place: CallPlace }
  /** A block of the plugin's own, and another one where there is `and`; or the action, where one stands for the call. */
  | { type: "own"; place: CallPlace; and?: CallPlace; or?: ActionType }
  /** The action, for every manifest of the body; one that prunes deletes as well. */
  | { type: "manifests"; prunes: boolean }
  /** A command of the plugin itself. */
  | { type: "command"; plugin: string }
  /** Everything there is. */
  | { type: "everything" };

interface Rule {
  endpoint: Endpoint;
  need: (place: CallPlace, query: URLSearchParams) => CallNeed;
}

const nothing = (): CallNeed => ({ type: "nothing" });
const inScope = (place: CallPlace): CallNeed => ({ type: "scope", place });
const own = (place: CallPlace): CallNeed => ({ type: "own", place });
const ownJob = (place: CallPlace): CallNeed => ({ type: "own", place, or: "run_job" });
const acting =
  (action: ActionType) =>
  (place: CallPlace): CallNeed => ({ type: "action", action, place });

/** What is not in this list, plugins and the identity service above all, is for those that were granted everything. */
const rules: readonly Rule[] = [
  ...[health, system, getOperation].map((endpoint) => ({ endpoint, need: nothing })),
  ...[describe, listManifests, listPods, getPod, podReady, podLogs, scopeLogs, listStats].map((endpoint) => ({
    endpoint,
    need: inScope,
  })),
  ...[listReleases, listRuns, getRun, listEvents, why].map((endpoint) => ({ endpoint, need: inScope })),
  ...[execPod, getExec, startPod, stopPod, restart, scale, wake, runRelease, rollback, databasePoints].map(
    (endpoint) => ({
      endpoint,
      need: own,
    }),
  ),
  { endpoint: planDatabaseRestore, need: own },
  { endpoint: bringDatabase, need: (place, query) => ({ type: "own", place, and: named(query.get("into")) }) },
  ...[runJob, runCronjob, cancelRun].map((endpoint) => ({ endpoint, need: ownJob })),
  // Only runs of the plugin that the query names, which is its own.
  { endpoint: listPluginRuns, need: (_place, query) => ({ type: "command", plugin: query.get("plugin") ?? "" }) },
  { endpoint: getConfig, need: (place) => ({ type: "config", place }) },
  { endpoint: setConfig, need: acting("config_set") },
  { endpoint: unsetConfig, need: acting("config_unset") },
  { endpoint: apply, need: (_place, query) => ({ type: "manifests", prunes: !isOff(query.get("prune")) }) },
  ...[deleteManifest, deleteResource].map((endpoint) => ({ endpoint, need: acting("delete_manifest") })),
];

function isOff(flag: string | null): boolean {
  return flag === null || flag.trim() === "" || flag.trim() === "false";
}

const matchers = rules.map(({ endpoint, need }) => ({
  method: endpoint.method,
  pattern: patternOf(endpoint),
  need,
  isJobRun: endpoint === getRun || endpoint === cancelRun,
}));

const commandPattern = patternOf(dispatchPlugin);

function patternOf({ path }: Endpoint): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/:([^/]+)/g, "(?<$1>[^/]+)")}$`);
}

/** What a call needs. A path that is written in another way than the API documents it needs everything. */
export function callNeed(method: string, target: string): CallNeed {
  const [path = "", text = ""] = split(target);
  const query = new URLSearchParams(text);
  const { name: plugin } = commandPattern.exec(path)?.groups ?? {};
  if (method === dispatchPlugin.method && plugin !== undefined) return { type: "command", plugin: decoded(plugin) };
  for (const { method: its, pattern, need, isJobRun } of matchers) {
    const found = its === (method === "HEAD" ? "GET" : method) ? pattern.exec(path) : null;
    if (found === null) continue;
    const { name: pod, id } = found.groups ?? {};
    if (isJobRun) return need({ run: decoded(id ?? "") }, query);
    return need(pod === undefined ? placeOf(query) : { pod: decoded(pod) }, query);
  }
  return { type: "everything" };
}

function split(target: string): [string, string] {
  const at = target.indexOf("?");
  return at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
}

/** Blank is left out, as the plane reads it. */
function placeOf(query: URLSearchParams): CallPlace {
  const scope = query.get("scope")?.trim();
  const name = query.get("name")?.trim();
  return { ...(scope ? { scope } : {}), ...(name ? { name } : {}) };
}

/** `SCOPE/NAME`; what is written in another way is of no block. */
function named(reference: string | null): CallPlace {
  const [scope = "", name = ""] = (reference ?? "").trim().split("/");
  return { scope, name };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Whether a grant reaches a place; without a scope anything may be meant, and only a grant for all of them does. */
export function reaches({ scopes }: PluginPermissions, { scope }: CallPlace): boolean {
  return scopes.includes("*") || (scope !== undefined && scopes.includes(scope));
}
