import {
  bringDatabase,
  databasePoints,
  type DatabaseRestore,
  planDatabaseRestore,
} from "../../../src/backups/api/databases.ts";
import { ApiError, type Client } from "../../../src/base/wire/client.ts";
import { apply, listManifests } from "../../../src/orchestration/api/apply.ts";
import { getPod } from "../../../src/orchestration/api/pods.ts";
import { setConfig } from "../../../src/orchestration/api/config.ts";
import type { Spec } from "../../../src/orchestration/api/manifest.ts";
import { type Arguments, noMoreThan, parseArguments, type Reference, referenceText } from "../../kit/arguments.ts";
import { type Cluster, until } from "../../kit/cluster.ts";
import { apiOf } from "../../kit/controller.ts";
import { copyMs, loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError, usage } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** `times SCOPE/NAME`: what `restore --at` can bring back. */
export async function times(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["output"], short: { o: "output" } });
  noMoreThan(args.words, 1);
  const { of } = await loadServer(call, postgresKind, args.words[0]);
  const points = await asked(() => apiOf(call).call(databasePoints, { query: { ...of } }));
  if (args.values.output === "json") return { message: JSON.stringify(points, null, 2) };
  const { ranges, bases, target, error } = points;
  const lines = ranges.map(({ from, to }) => `any time from ${from} to ${to}`);
  return {
    message: [
      ...(lines.length === 0 ? ["no time yet: no base backup is at the target"] : lines),
      `base backups at ${target}: ${bases.length}`,
      ...(error === undefined ? [] : [`NOT SHIPPED now: ${error}`]),
    ].join("\n"),
  };
}

/**
 * `restore SCOPE/NAME --at TIME`: the whole server as it was then, as a new block beside it, which nothing is linked to. The
 * command succeeds once that block answers.
 */
export async function restoreAt(call: Call, { words, values, on }: Arguments, time: string): Promise<Outcome> {
  noMoreThan(words, 1);
  if (values.into !== undefined || values.database !== undefined || on.has("replace")) {
    throw usage(
      "--at restores the whole server beside it, or with --replace in its place; leave out --into and --database",
    );
  }
  const cluster = await loadServer(call, postgresKind, words[0]);
  const api = apiOf(call);
  const at = time === "latest" ? undefined : timeOf(time);
  const query = { ...cluster.of, ...(at === undefined ? {} : { at }) };
  const plan = await asked(() => api.call(planDatabaseRestore, { query }));
  const reindex = on.has("reindex");
  if (values.image === undefined && !reindex) await requireSameImage(api, cluster, plan);
  const beside = {
    scope: cluster.of.scope,
    name: values.as ?? nameOf(cluster.of, plan.at ?? new Date().toISOString()),
  };
  await makeBlock(api, cluster, { beside, plan, image: values.image, reindex });
  cluster.progress(`from the base backup of ${plan.base} and ${plan.segments} segments of WAL`);
  await until("a pod for the restore", 600_000, async () =>
    (await cluster.controller.pods(beside)).some(({ running }) => running),
  );
  const into = referenceText(beside);
  await asked(() => api.call(bringDatabase, { query: { ...cluster.of, into }, body: { at } }));
  await until(`${referenceText(beside)} is restored, which`, copyMs, async () => {
    const [pod] = await cluster.controller.pods(beside);
    return pod?.ready === true;
  });
  const what = plan.at === undefined ? "all that is at the target" : `what was committed by ${plan.at}`;
  const shown = referenceText(beside);
  return {
    message: `${shown} holds ${what} of ${referenceText(cluster.of)}; look: berth pg:psql ${shown}; remove it: berth delete postgres ${shown} --prune`,
  };
}

export function timeOf(text: string): string {
  const form = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:?\d\d)$/;
  const ms = form.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(ms))
    throw usage(`"${text}" is not a time with a zone; write it like 2026-11-27T14:05:00Z, or latest`);
  return new Date(ms).toISOString();
}

const nameOf = ({ name }: Reference, at: string) => `${name}-at-${at.replaceAll(/\D/g, "").slice(0, 14)}`;

/** Another image may bring another libc, which sorts text in another way than the indexes of the data do. */
export async function requireSameImage(api: Client, cluster: Cluster, plan: DatabaseRestore): Promise<void> {
  const running = cluster.pods.find((pod) => pod.running);
  if (plan.image_id === "" || running === undefined) return;
  const { pod } = await asked(() => api.call(getPod, { params: { name: running.name } }));
  if (pod.image_id === plan.image_id) return;
  throw new PluginError(
    `the base backup was made with the image ${plan.image} (${plan.image_id}, PostgreSQL ${plan.version}), and the pods run another ` +
      "one, whose libc may sort in another way, which breaks indexes. --reindex builds them all again; beside this one, --image IMAGE restores with another image",
  );
}

interface Beside {
  beside: Reference;
  plan: DatabaseRestore;
  image: string | undefined;
  reindex: boolean;
}

/** The same server once more, with the passwords of now, without what reaches others: links, ports, jobs, standbys. */
async function makeBlock(
  api: Client,
  { of, config }: Cluster,
  { beside, plan, image, reindex }: Beside,
): Promise<void> {
  const rows = await Promise.all(["postgres", "pg"].map((kind) => api.call(listManifests, { query: { kind, ...of } })));
  const [block] = rows.flat();
  if (block === undefined) throw new PluginError(`no block ${referenceText(of)}`);
  const there = await Promise.all(
    [block.kind, "statefulset"].map((kind) => api.call(listManifests, { query: { kind, ...beside } })),
  );
  if (there.flat().length > 0)
    throw new PluginError(`${referenceText(beside)} is there already; choose another name with --as`);
  const {
    links: _links,
    ports: _ports,
    backups: _backups,
    failover: _failover,
    point_in_time: _here,
    ...kept
  } = block.spec;
  const spec: Spec = {
    ...kept,
    replicas: 1,
    image: image ?? kept.image,
    settings: { ...mapOf(kept.settings ?? kept.pg_config), ...quiet },
    env: {
      ...mapOf(kept.env),
      PG_RESTORE: `${referenceText(of)} ${plan.at ?? "latest"}`,
      ...(reindex && { PG_REINDEX: "1" }),
    },
  };
  delete spec.pg_config;
  const passwords = Object.entries(config).filter(([key]) => key.startsWith("POSTGRES_"));
  await api.call(setConfig, { query: { ...beside, restart: false }, body: Object.fromEntries(passwords) });
  await asked(() => api.call(apply, { query: {}, body: { ...block, ...beside, spec } }));
}

/** What would act a second time, or on others: changes that are fetched from publishers, and jobs of pg_cron. */
const quiet = { max_logical_replication_workers: "0", "cron.launch_active_jobs": "off" };

const mapOf = (value: unknown) =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

export async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError) throw new PluginError(error.message);
    throw error;
  }
}
