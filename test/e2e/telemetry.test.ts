import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { MetricAnswers } from "../../src/observability/api/metrics.ts";
import { requestShapes, type Signal } from "../../src/observability/core/otlp/shapes.ts";
import { deployment } from "../support/manifests.ts";
import { encodeProtobuf, logRecords, nanos, oneMetric, oneTrace, text } from "../support/otlp.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

/** An app that sends what a test puts into its shell, over the platform network, as the injected variables say. */
let berth: Rig;
let pod: string;

beforeAll(async () => {
  // The most open one: what the server writes is for its owner alone nevertheless.
  const umask = process.umask(0);
  berth = await rig({ flags: ["--stats-interval", "1s"] }).finally(() => process.umask(umask));
  await berth.apply({ ...deployment("shop", "web"), spec: { ...deployment("shop", "web").spec, telemetry: true } });
  await berth.ready("deployment", "shop", "web");
  const [first] = await berth.pods("shop", "web");
  pod = first?.name ?? "";
}, 90_000);
afterAll(() => berth.close());

function inPod(script: string): string {
  return berth.docker(["exec", pod, "sh", "-c", script]);
}

/** What the server answers; empty for a whole success. */
function sendJson(signal: Signal, body: unknown): string {
  const words = JSON.stringify(body).replaceAll("'", "'\\''");
  const to = `"$OTEL_EXPORTER_OTLP_ENDPOINT/v1/${signal}"`;
  return inPod(`wget -q -O - --header 'Content-Type: application/json' --post-data '${words}' ${to}`);
}

/** By hand: the client in the image takes no bytes of zero. Fails unless the server took it. */
function sendProtobuf(signal: Signal, body: Record<string, unknown>): void {
  const packed = Bun.gzipSync(encodeProtobuf(requestShapes[signal], body));
  const head = [
    `POST /v1/${signal} HTTP/1.1`,
    "Host: server",
    "Content-Type: application/x-protobuf",
    "Content-Encoding: gzip",
    `Content-Length: ${packed.length}`,
    "Connection: close",
  ];
  const bytes = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), packed]).toString("base64");
  const to = 'to=${OTEL_EXPORTER_OTLP_ENDPOINT#http://}; nc "${to%:*}" "${to#*:}"';
  expect(inPod(`echo ${bytes} | base64 -d > /tmp/body; ${to} < /tmp/body`)).toStartWith("HTTP/1.1 200");
}

async function stored(...args: string[]): Promise<string[]> {
  const { stdout } = await berth.cli(["logs", "shop/web", "--stored", "--no-prefix", ...args]);
  return stdout.split("\n").filter((line) => line !== "");
}

async function values(metric: string): Promise<number[]> {
  const path = `/query?metric=custom.${metric}&from=5m&group_by=app,replica,route&agg=sum`;
  const { results } = (await berth.call("GET", path)).body.data as unknown as MetricAnswers;
  const [first] = results[0]?.series ?? [];
  if (first === undefined) return [];
  expect(first.group).toEqual({ app: "shop/web", replica: "0", route: "/pay" });
  return first.values.filter((value) => value !== null);
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

test("an app finds the endpoint and who it is in its environment", () => {
  const env = inPod("env");
  expect(env).toMatch(/^OTEL_EXPORTER_OTLP_ENDPOINT=http:\/\/[\d.]+:4318$/m);
  expect(env).toContain("OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n");
  expect(env).toContain("OTEL_SERVICE_NAME=web\n");
  expect(env).toMatch(/^OTEL_RESOURCE_ATTRIBUTES=service\.namespace=shop,service\.instance\.id=[0-9a-z]+$/m);
});

test("logs and metrics in JSON and in protobuf are found beside the rest, also after a kill and a restart", async () => {
  const trace = "5b8efff798038103d269b633813fc60c";
  const failed = { severityNumber: 17, body: { stringValue: "payment failed" }, traceId: trace };
  expect(sendJson("logs", logRecords({ timeUnixNano: nanos(Date.now()), ...failed }))).toBe("{}");
  sendProtobuf("logs", logRecords({ timeUnixNano: nanos(Date.now()), body: { stringValue: "from protobuf" } }));
  const orders = (value: number) =>
    oneMetric({
      name: "orders",
      sum: {
        isMonotonic: true,
        aggregationTemporality: 1,
        dataPoints: [{ asInt: value, attributes: [text("route", "/pay")] }],
      },
    });
  expect(sendJson("metrics", orders(2))).toBe("{}");
  sendProtobuf("metrics", orders(3));
  await waitFor("the metric", async () => sum(await values("orders_total")) === 5);
  await berth.stop("SIGKILL");
  await berth.start();
  expect(await stored("--field", `trace_id=${trace}`, "--level", "error")).toEqual([
    expect.stringContaining("payment failed"),
  ]);
  expect(await stored("--grep", "from protobuf")).toEqual([expect.stringContaining("from protobuf")]);
  expect(sum(await values("orders_total"))).toBe(5);
  await waitFor("the listener to be there again", async () => inPod(tryAgain));
  sendProtobuf("metrics", orders(4));
  // What was acknowledged is there after an orderly stop, whatever the round of samples is at.
  await berth.stop();
  await berth.start();
  expect(sum(await values("orders_total"))).toBe(9);
  const { body } = await berth.call("GET", "/metrics.prom");
  expect(JSON.stringify(body)).not.toContain("undefined");
});

const tryAgain = `wget -q -O - --header 'Content-Type: application/json' --post-data '{}' "$OTEL_EXPORTER_OTLP_ENDPOINT/v1/logs" || true`;

test("a trace of two spans is found, shown as a tree, and there after a kill", async () => {
  const traceId = "7c1d2e3f4a5b6c7d8e9fa0b1c2d3e4f5";
  const at = Date.now() - 500;
  const span = (spanId: string, name: string, more: Record<string, unknown>) => ({
    ...{ traceId, spanId, name, startTimeUnixNano: nanos(at), endTimeUnixNano: nanos(at + 120) },
    ...more,
  });
  expect(sendJson("traces", oneTrace("storefront", span("a1a1a1a1a1a1a1a1", "GET /pay", { kind: 2 })))).toBe("{}");
  const failed = { parentSpanId: "a1a1a1a1a1a1a1a1", kind: 3, status: { code: 2, message: "declined" } };
  sendProtobuf("traces", oneTrace("storefront", span("b2b2b2b2b2b2b2b2", "charge", failed)));
  await berth.stop("SIGKILL");
  await berth.start();
  const { stdout: list } = await berth.cli(["traces", "shop/web", "--error", "--since", "10m"]);
  expect(list).toContain(traceId);
  expect(list).toContain("GET /pay");
  const { stdout: shown } = await berth.cli(["traces", "show", traceId]);
  expect(shown).toMatch(/GET \/pay[^\n]*\n\s+charge[^\n]*declined/);
  expect((await berth.cli(["traces", "list", "--min-duration", "5s"])).stdout).toContain("no traces");
});

test("a stranger on the network of the platform is refused", () => {
  const url = inPod("echo $OTEL_EXPORTER_OTLP_ENDPOINT").trim();
  const post = `wget -O - --header 'Content-Type: application/json' --post-data '{}' ${url}/v1/logs 2>&1 || true`;
  const run = ["run", "--rm", "--network", `${berth.prefix}0`, "berth-fixture:1", "sh", "-c", post];
  expect(berth.docker(run)).toContain("403");
});

test("no file of the root is open to other users, whatever the umask", () => {
  // Containers and plugins read theirs.
  const shared = ["apps", "assets", "volumes", "plugins"].map((name) => `${berth.root}/${name}`);
  const files: string[] = [];
  const open: string[] = [];
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !shared.includes(path)) walk(path);
      else if (entry.isFile() || entry.isSocket()) {
        files.push(path);
        if ((statSync(path).mode & 0o077) !== 0) open.push(path);
      }
    }
  };
  walk(berth.root);
  for (const name of ["state.db", "state.db-wal", "metrics.db", "metrics.db-wal", "traces.db", "traces.db-shm"])
    expect(files).toContain(join(berth.root, name));
  expect(files.some((path) => path.startsWith(join(berth.root, "logs/")))).toBe(true);
  expect(open).toEqual([]);
});
