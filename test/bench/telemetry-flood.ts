import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestShapes, type Signal } from "../../src/observability/core/otlp/shapes.ts";
import { deployment } from "../support/manifests.ts";
import { encodeProtobuf } from "../support/otlp.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";
import type { FloodCounts, FloodRequest } from "./flood-worker.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./row.ts";

/** BERTH_BENCH_SECONDS: how long each state is looked at. */
const seconds = Number(process.env.BERTH_BENCH_SECONDS ?? 10);
/** BERTH_BENCH_PROGRAM: another executable, for example of a version without the protection. */
const program = process.env.BERTH_BENCH_PROGRAM;
const containers = 8;
/** Of each flood, all at once and again and again. */
const connections = 8;

/**
 * What people wait for while eight containers send telemetry as fast as they can: small requests that hold very much. A
 * second flood is one token with the scope `read` that sends bodies of 1 MiB. Medians beside those of the idle server.
 */
export async function run(): Promise<BenchRow[]> {
  const flags = ["--observability-addr", "127.0.0.1:0", "--identity-addr", "127.0.0.1:0"];
  const berth = await rig({ flags, ...(program === undefined ? {} : { program }) });
  const folder = mkdtempSync(join(tmpdir(), "berth-flood."));
  try {
    const probes = await probesOf(berth);
    const idle = await measure(probes);
    const stopFlood = await flood(berth, folder);
    const flooded = await measure(probes);
    requireArrival("each container", await stopFlood(), ["200", "400", "413", "429", "503"]);
    const still = await measure(probes);
    const stopBodies = await largeBodies(berth, folder, probes.token);
    const read = await measure(probes);
    requireArrival("the reader", [await stopBodies()], ["403", "413", "429"]);
    return names.flatMap((name) => [
      row(`telemetry flood: ${name}`, flooded[name], idle[name]),
      row(`bodies of a read token: ${name}`, read[name], still[name]),
    ]);
  } catch (error) {
    // What the end of the server says would hide it.
    console.error(error);
    throw error;
  } finally {
    for (const child of senders) child.kill("SIGKILL");
    await berth.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const names = ["api", "ui", "sign-in"] as const;
type Name = (typeof names)[number];
interface Probes {
  urls: Record<Name, { url: string; headers?: Record<string, string> }>;
  token: string;
}

function row(name: string, value: number, baseline: number): BenchRow {
  return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted: "<= 3" };
}

/** A flood that does not arrive, or does not go on, costs nothing and would look like protection. */
function requireArrival(who: string, all: FloodCounts[], statuses: string[]): void {
  console.log(`answers to ${who}: ${all.map((counts) => JSON.stringify(counts)).join(" ")}`);
  const answered = all.map((counts) => statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0));
  const isFlood = answered.every((count) => count > 0) && answered.some((count) => count > 1);
  if (!isFlood) throw new Error(`the flood did not arrive: ${answered.join(", ")} answers to ${who}`);
}

function addressOf(berth: Rig, plane: "observability" | "identity"): string {
  const [address] = (berth.server.ready.addresses as Record<string, string[]>)[plane] ?? [];
  return `http://${address}`;
}

async function probesOf(berth: Rig): Promise<Probes> {
  const { body } = await berth.call("POST", "/pats", { scopes: ["read"] });
  const token = String((body.data as unknown as { token: string }).token);
  const redirect = "http://localhost:3000/back";
  const made = await berth.call("POST", "/identity/quickstart", { app: "shop", redirect_uris: [redirect] });
  const instance = String((made.body.data as unknown as { instance_id: string }).instance_id);
  const [plane, identity] = [addressOf(berth, "observability"), addressOf(berth, "identity")];
  return {
    token,
    urls: {
      api: { url: `${plane}/api/pat/v1/apps`, headers: { Authorization: `Bearer ${token}` } },
      ui: { url: `${plane}/` },
      "sign-in": { url: `${identity}/i/${instance}/sign-in?${new URLSearchParams({ redirect_uri: redirect })}` },
    },
  };
}

/** The median of each, asked in turn. */
async function measure({ urls }: Probes): Promise<Record<Name, number>> {
  const times: Record<Name, number[]> = { api: [], ui: [], "sign-in": [] };
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until)
    for (const name of names) {
      const { url, headers = {} } = urls[name];
      const before = performance.now();
      const response = await fetch(url, { headers, redirect: "manual" });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${name}: status ${response.status}: ${text.slice(0, 300)}`);
      times[name].push(performance.now() - before);
      await Bun.sleep(5);
    }
  return { api: median(times.api), ui: median(times.ui), "sign-in": median(times["sign-in"]) };
}

const empties: Record<Signal, Record<string, unknown>> = {
  logs: { resourceLogs: [{ scopeLogs: [{ logRecords: many(190_000) }] }] },
  metrics: { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "m", gauge: { dataPoints: many(60_000) } }] }] }] },
  traces: { resourceSpans: [{ scopeSpans: [{ spans: many(90_000) }] }] },
};

function many(count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, () => ({}));
}

/** In the network namespaces of the containers: the image has no program that is fast enough. */
async function flood(berth: Rig, folder: string): Promise<() => Promise<FloodCounts[]>> {
  const apps = Array.from({ length: containers }, (_, at) => deployment("flood", `app-${at}`, { telemetry: true }));
  await berth.apply(...apps);
  for (const { name } of apps) await berth.ready("deployment", "flood", name);
  const bodies = (Object.keys(empties) as Signal[]).flatMap((signal) => {
    const packed = encodeProtobuf(requestShapes[signal], empties[signal]);
    const kinds = { "x-protobuf": packed, json: JSON.stringify(empties[signal]) };
    return Object.entries(kinds).map(([type, bytes]) => {
      const body = join(folder, `${signal}.${type}`);
      writeFileSync(body, Bun.gzipSync(bytes, { level: 9 }));
      return {
        path: `/v1/${signal}`,
        headers: { "Content-Type": `application/${type}`, "Content-Encoding": "gzip" },
        body,
      };
    });
  });
  const begun: Promise<() => Promise<FloodCounts>>[] = [];
  for (const { name } of apps) {
    const [pod] = await berth.pods("flood", name);
    const inspect = (format: string) => berth.docker(["inspect", "--format", format, pod?.name ?? ""]).trim();
    const [, url = ""] = /OTEL_EXPORTER_OTLP_ENDPOINT=([^"]+)/.exec(inspect("{{json .Config.Env}}")) ?? [];
    const requests = bodies.map(({ path, ...more }) => ({ url: `${url}${path}`, ...more }));
    begun.push(send(folder, { name, requests, within: ["nsenter", "-t", inspect("{{.State.Pid}}"), "-n"] }));
  }
  const ends = await Promise.all(begun);
  return () => Promise.all(ends.map((end) => end()));
}

function largeBodies(berth: Rig, folder: string, token: string): Promise<() => Promise<FloodCounts>> {
  const body = join(folder, "mebibyte");
  writeFileSync(body, new Uint8Array(1024 * 1024));
  const headers = { Authorization: `Bearer ${token}` };
  const url = `${addressOf(berth, "observability")}/api/pat/v1/apps/a/b/restart`;
  return send(folder, { name: "reader", requests: [{ url, headers, body }], within: [] });
}

interface Flood {
  name: string;
  requests: FloodRequest[];
  /** Words before the command. */
  within: string[];
}

/** All that were started: what fails in between leaves none behind. */
const senders: Bun.Subprocess[] = [];

/** Behind everything else on the processor: the floods are to use the server, not the machine. */
async function send(folder: string, { name, requests, within }: Flood): Promise<() => Promise<FloodCounts>> {
  const file = join(folder, `${name}.requests`);
  writeFileSync(file, JSON.stringify(requests));
  const words = [...within, "nice", "-n", "19", process.execPath, join(import.meta.dir, "flood-worker.ts")];
  const child = Bun.spawn([...words, file, String(connections)], { stdout: "pipe", stderr: "inherit" });
  senders.push(child);
  let said = "";
  const reading = (async () => {
    for await (const part of child.stdout) said += Buffer.from(part).toString();
  })();
  await waitFor("the first answer to a flood", () => said.includes("\n"), 120_000);
  return async () => {
    child.kill();
    await reading;
    return JSON.parse(said.slice(said.indexOf("\n") + 1)) as FloodCounts;
  };
}
