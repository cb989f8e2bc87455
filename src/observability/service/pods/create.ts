import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { ApiError, type Client } from "../../../base/wire/client.ts";
import { getPod, listPods, type PodDetail, type PodRecord } from "../../../orchestration/api/pods.ts";
import { restart } from "../../../orchestration/api/restart.ts";
import { listStats, type Stats } from "../../../orchestration/api/stats.ts";
import type { getPlanePod, listPlanePods, restartPlanePod } from "../../api/pods.ts";
import { mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import { withoutEnv } from "../../core/pods/mask-env.ts";
import type { ObservabilityContext } from "../context.ts";

/** The filter of a list: kind in any spelling, exact scope and name. */
export interface PodFilter {
  kind?: string | undefined;
  scope?: string | undefined;
  name?: string | undefined;
}

/** Containers, as far as a token may see their apps. What it may not see does not exist. */
export interface Pods {
  list(grant: Grant, query: PodQuery): Promise<DataOf<typeof listPlanePods>>;
  /** Fails `not_found`. */
  get(grant: Grant, name: string, options: { spec: boolean }): Promise<DataOf<typeof getPlanePod>>;
  /** Rolls the app of a pod and does not wait. Fails as `get`, and `invalid` for what no restart is for. */
  restart(grant: Grant, name: string, by: { actor: string }): Promise<DataOf<typeof restartPlanePod>>;
  /** Names of the pods of a filter, in the order of `list`, and when they began to run, in epoch milliseconds. */
  runs(grant: Grant, filter: PodFilter): Promise<{ name: string; startedAt: number | undefined }[]>;
}

interface PodQuery extends PodFilter {
  detail: boolean;
  spec: boolean;
  stats: boolean;
}

const ownName = "observability";

export function createPods({ platform }: Pick<ObservabilityContext, "platform">): Pods {
  const client = platform.as(ownName);
  const rows = async (grant: Grant, query: Omit<PodQuery, "stats">) => {
    const { pods, degraded } = await client.call(listPods, { query: { ...query } });
    return { pods: pods.filter(sees(grant)), degraded: degraded.filter((row) => mayReach(grant, nameOf(row))) };
  };
  const find = async (grant: Grant, name: string, spec: boolean): Promise<PodDetail> => {
    const { pod } = await client.call(getPod, { params: { name }, query: { spec } }).catch(noPod(name));
    if (!sees(grant)(pod)) throw missing(name);
    return pod;
  };
  return {
    async list(grant, { stats, ...query }) {
      const { pods, degraded } = await rows(grant, query);
      if (!query.detail) return { pods: pods.map(withoutEnv), degraded };
      const usage = stats ? await usageByPod(client, query) : new Map<string, Usage>();
      return { pods: pods.map((pod) => withoutEnv({ ...pod, ...usageOf(usage, pod.name) })), degraded };
    },
    async get(grant, name, { spec }) {
      const pod = await find(grant, name, spec);
      const { scope, resource_name: resource } = pod;
      const usage = await usageByPod(client, { kind: pod.kind, scope, name: resource });
      return { pod: withoutEnv({ ...pod, ...usageOf(usage, name) }) };
    },
    async restart(grant, podName, { actor }) {
      const { kind, scope = "", resource_name: name } = await find(grant, podName, false);
      if (kind !== "deployment" && kind !== "statefulset") {
        throw new Failure(
          "invalid",
          `pod "${podName}" belongs to a ${kind}; only deployments and statefulsets restart`,
        );
      }
      const begun = await platform.as(actor, grant).call(restart, { query: { kind, scope, name, wait: false } });
      return {
        ...{ scope, name, kind, unfroze: begun.unfroze },
        ...(begun.operation === undefined ? {} : { operation: begun.operation }),
      };
    },
    async runs(grant, filter) {
      const { pods } = await rows(grant, { ...filter, detail: false, spec: false });
      return pods.map(({ name, started_at: at }) => ({ name, startedAt: at === undefined ? at : Date.parse(at) }));
    },
  };
}

type Usage = Pick<Stats, "usage" | "limits">;

async function usageByPod(client: Client, { kind, scope, name }: PodFilter): Promise<Map<string, Usage>> {
  const { pods } = await client.call(listStats, { query: { kind, scope, name, orphans: true } });
  return new Map(pods.map(({ container_name: pod, usage, limits }) => [pod, { usage, limits }]));
}

function usageOf(usage: ReadonlyMap<string, Usage>, name: string): { stats?: Usage } {
  const stats = usage.get(name);
  return stats === undefined ? {} : { stats };
}

function sees(grant: Grant): (pod: Pick<PodRecord, "scope" | "resource_name">) => boolean {
  return (pod) => mayReach(grant, { scope: pod.scope ?? "", name: pod.resource_name });
}

function nameOf({ scope = "", name }: { scope?: string; name: string }): { scope: string; name: string } {
  return { scope, name };
}

function noPod(name: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError && error.status === 404) throw missing(name);
    throw error;
  };
}

function missing(name: string): Failure {
  return new Failure("not_found", `pod ${JSON.stringify(name)} does not exist, or this token may not see it`);
}
