import { unlessAborted } from "../../../base/words/abort.ts";
import { listCertificates } from "../../../ingress/api/certificates.ts";
import { getIngress } from "../../../ingress/api/ingress.ts";
import { getIngressTraffic } from "../../../ingress/api/traffic.ts";
import { listManifests } from "../../../orchestration/api/apply.ts";
import { system } from "../../../orchestration/api/health.ts";
import { listRuns } from "../../../orchestration/api/jobs.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import {
  type AppFact,
  askText,
  type Facts,
  type LogAsk,
  type MetricAsk,
  type MetricValue,
} from "../../core/alerts/facts.ts";
import { appFactOf, certificateFact, runFactsOf } from "../../core/alerts/read-facts.ts";
import { siteFacts } from "../../core/alerts/site-facts.ts";
import { type ActiveRule, logAsk, metricAsk } from "../../core/alerts/rules.ts";
import type { AlertParts } from "../alert-parts.ts";
import type { ReadReleases } from "./release-reader.ts";

export interface Reading {
  facts: Facts;
  /** Why a part of the facts is missing, by its name. */
  missing: ReadonlyMap<keyof Facts, string>;
}

const runsRead = "1000";

/** All that the rules need to know; a part that cannot be read is left out and does not keep the others away. */
export async function readFacts(
  parts: AlertParts,
  rules: readonly ActiveRule[],
  readReleases: ReadReleases,
): Promise<Reading> {
  const { client, clock, sources } = parts;
  const missing = new Map<keyof Facts, string>();
  // One part that hangs must not keep the others from being looked at.
  const late = AbortSignal.timeout(parts.limits.readMs);
  const part = async <P extends keyof Facts>(name: P, read: () => Promise<NonNullable<Facts[P]>>) => {
    try {
      const found = await unlessAborted(read(), late);
      if (found === undefined) throw new Error(`no answer within ${parts.limits.readMs / 1_000} s`);
      return { [name]: found };
    } catch (error) {
      missing.set(name, error instanceof Error ? error.message : String(error));
      return {};
    }
  };
  const handed = <P extends "backup" | "drains">(name: P) =>
    part(name, async () => {
      const read = sources[name];
      if (read === undefined) throw new Error(`this server does not look at its ${name}`);
      return (await read()) as NonNullable<Facts[P]>;
    });
  const manifests = client.call(listManifests, { query: { status: "true" } });
  const found = await Promise.all([
    part("apps", async () => {
      const releases = await readReleases(await manifests);
      const facts = (await manifests).flatMap((one) => appFactOf(one, releases.get(keyText(one)) ?? []) ?? []);
      // The status counts replicas of the newest release alone; during a rollout the older ones serve.
      return facts.map((app) => withSight(app, sources.sight?.(app)));
    }),
    part("runs", async () => {
      const { runs } = await client.call(listRuns, { query: { limit: runsRead } });
      return runFactsOf(runs, await manifests);
    }),
    part("certificates", async () => (await client.call(listCertificates)).certificates.map(certificateFact)),
    part("sites", async () => {
      const { sites } = await client.call(getIngress);
      const targets = new Map(sites.map(({ ingress, target }) => [ingress, target]));
      return siteFacts((await client.call(getIngressTraffic)).sites, targets);
    }),
    part("engine", async () => {
      const { engine } = await client.call(system);
      return { up: engine.up, error: engine.error ?? "" };
    }),
    part("ingress", async () => {
      const { proxy, sites } = await client.call(getIngress);
      return { problem: sites.length === 0 ? "" : (proxy.problem ?? "") };
    }),
    part("disks", async () => {
      if (sources.disks === undefined) throw new Error("this server does not look at its disks");
      // The container engine may have a disk of its own.
      const { disks = [] } = await client.call(system).catch(() => ({ disks: [] }));
      return sources.disks(disks.map(({ path }) => path));
    }),
    handed("backup"),
    handed("drains"),
    part("metrics", () => askAll(sources.metrics, metricAsks(rules), "metrics")),
    part("logs", () => askAll(sources.logs, logAsks(rules), "logs")),
  ]);
  return { facts: Object.assign({ now: clock.now() }, ...found), missing };
}

function metricAsks(rules: readonly ActiveRule[]): MetricAsk[] {
  return rules.flatMap(({ watch }) => (watch.type === "metric" ? [metricAsk(watch)] : []));
}

function logAsks(rules: readonly ActiveRule[]): LogAsk[] {
  return rules.flatMap(({ watch }) => (watch.type === "log" ? [logAsk(watch)] : []));
}

/** A question that fails has no answer; the others have theirs. */
async function askAll<A extends MetricAsk | LogAsk>(
  ask: ((one: A) => Promise<readonly MetricValue[]>) | undefined,
  asks: readonly A[],
  noun: string,
): Promise<Map<string, readonly MetricValue[]>> {
  if (ask === undefined) throw new Error(`this server keeps no ${noun}`);
  const answers = await Promise.all(
    asks.map(async (one): Promise<[string, readonly MetricValue[]][]> => {
      try {
        return [[askText(one), await ask(one)]];
      } catch {
        return [];
      }
    }),
  );
  return new Map(answers.flat());
}

type Sight = ReturnType<NonNullable<AlertParts["sources"]["sight"]>>;

function withSight(app: AppFact, sight: Sight): AppFact {
  if (sight === undefined) return app;
  const { serving, starved } = sight;
  return { ...app, ready: Math.min(serving, app.wanted), ...(starved === undefined ? {} : { starved }) };
}
