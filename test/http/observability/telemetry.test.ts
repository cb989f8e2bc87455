import { afterEach, beforeEach, expect, test } from "bun:test";
import { telemetryLimits } from "../../../src/config/telemetry-limits.ts";
import { createTelemetryApp } from "../../../src/observability/http/telemetry.ts";
import { requestShapes } from "../../../src/observability/core/otlp/shapes.ts";
import type { MetricCatalogue } from "../../../src/observability/api/metrics.ts";
import type { Sender } from "../../../src/orchestration/api/sender.ts";
import { planeWorld, type PlaneWorld } from "../../support/observability.ts";
import { encodeProtobuf, oneMetric, text } from "../../support/otlp.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

const sender: Sender = {
  ...{ key: { kind: "deployment", scope: "shop", name: "web" }, id: "c1", pod: "shop-web.a1", replicaId: "a1" },
  ...{ ordinal: undefined, releaseId: undefined, role: undefined },
};

let world: PlaneWorld;
let app: ReturnType<typeof createTelemetryApp>;

beforeEach(() => {
  world = planeWorld();
  app = createTelemetryApp({
    room: world.running.observability.telemetry,
    senders: { at: async (address) => (address === "172.30.0.5" ? sender : undefined) },
    peerHeader: "X-Berth-Peer",
    limits: telemetryLimits.http,
    log: silentLog,
  });
});
afterEach(() => world.close());

interface Sent {
  path?: string;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  method?: string;
}

async function send({ path = "/v1/metrics", body = "{}", headers = {}, method = "POST" }: Sent = {}) {
  const given = { "X-Berth-Peer": "172.30.0.5", "Content-Type": "application/json", ...headers };
  const response = await app.fetch(
    new Request(`http://server${path}`, { method, headers: given, ...(method === "GET" ? {} : { body }) }),
  );
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

const words = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const gauge = (name: string, points: number) =>
  oneMetric({
    name,
    gauge: {
      dataPoints: Array.from({ length: points }, (_, at) => ({ asDouble: at, attributes: [text("n", `${at}`)] })),
    },
  });

test("JSON is answered as JSON, protobuf as protobuf, with or without gzip", async () => {
  const json = await send({ body: JSON.stringify(gauge("a", 1)) });
  expect([json.status, words(json.bytes), json.headers.get("content-type")]).toEqual([200, "{}", "application/json"]);
  const packed = encodeProtobuf(requestShapes.metrics, gauge("a", 1));
  for (const [body, encoding] of [
    [packed, "identity"],
    [Bun.gzipSync(packed), "gzip"],
  ] as const) {
    const headers = { "Content-Type": "application/x-protobuf", "Content-Encoding": encoding };
    const answer = await send({ body, headers });
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
    expect(answer.headers.get("content-type")).toBe("application/x-protobuf");
  }
});

test("what is not OTLP, not for us or not from a container is refused with the status that OTLP asks for", async () => {
  const cases: [Sent, number, string][] = [
    [{ headers: { "X-Berth-Peer": "172.30.0.9" } }, 403, "172.30.0.9 is not known here"],
    [{ path: "/v1/profiles" }, 404, "does not exist here"],
    [{ method: "GET" }, 405, "use POST"],
    [{ headers: { "Content-Type": "text/plain" } }, 415, "application/x-protobuf"],
    [{ headers: { "Content-Encoding": "br" } }, 415, "use gzip"],
    [{ headers: { "Content-Encoding": "gzip" } }, 400, "not gzip"],
    [{ body: '{"resourceMetrics": 3}' }, 400, "resourceMetrics: 3 is not a list"],
    [{ body: "{" }, 400, "body line 1 column 2"],
  ];
  for (const [sent, status, message] of cases) {
    const answer = await send(sent);
    expect([answer.status, words(answer.bytes)]).toEqual([status, expect.stringContaining(message)]);
  }
  const broken = await send({ body: Uint8Array.of(0x0a, 50), headers: { "Content-Type": "application/x-protobuf" } });
  // `google.rpc.Status`, with its message alone.
  expect([broken.status, broken.bytes[0], words(broken.bytes.subarray(2))]).toEqual([
    400,
    0x12,
    "byte 2: the message ends too early",
  ]);
});

test("a small body that grows beyond all limits when decompressed is a 413", async () => {
  const bomb = Bun.gzipSync(new Uint8Array(telemetryLimits.http.inflatedBytesMax + 1));
  expect((await send({ body: bomb, headers: { "Content-Encoding": "gzip" } })).status).toBe(413);
});

test("an app beyond its share gets 429 with the time to wait, and others go on", async () => {
  const statuses = new Set<number>();
  for (let count = 0; count <= telemetryLimits.room.requests.burst; count++) statuses.add((await send()).status);
  expect([...statuses]).toEqual([200, 429]);
  const refused = await send();
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 1]);
});

test("data points beyond the cap of an app are a partial success, told once in the log", async () => {
  const most = 1_000;
  const answer = await send({ body: JSON.stringify(gauge("wide", most + 5)) });
  expect(JSON.parse(words(answer.bytes))).toEqual({
    partialSuccess: {
      rejectedDataPoints: "5",
      errorMessage: "5 data points not kept: the app has too many series of its own: use fewer attributes",
    },
  });
  await send({ body: JSON.stringify(gauge("wider", 3)) });
  expect(world.lines.filter((line) => line.includes("telemetry of an app is not kept")).length).toBe(1);
  const problems = async (...apps: string[]) => {
    const token = await world.token(["read"], apps.length === 0 ? {} : { apps });
    const { data } = await world.ask("GET /overview", { token });
    return (data.problems as { id: string; type: string }[]).filter(({ type }) => type === "telemetry");
  };
  expect(await problems()).toMatchObject([{ id: "telemetry/deployment/shop/web", severity: "notice" }]);
  expect(await problems("blog/*")).toEqual([]);
  const sent = async (app: string) => {
    const { metrics } = (await world.manage(`GET /metrics/catalogue?app=${app}`)).data as unknown as MetricCatalogue;
    return metrics.filter(({ source }) => source === "custom").map(({ name, series }) => [name, series]);
  };
  expect([await sent("shop/web"), await sent("blog/web")]).toEqual([[["wide", most]], []]);
});

test("logs that cannot be stored now are to be sent again", async () => {
  const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: "x" } }] }] }] });
  const before = world.clock.sleepers;
  const sent = send({ path: "/v1/logs", body });
  await waitFor("the records to wait for their write", async () => world.clock.sleepers > before);
  world.clock.moveTo(world.clock.steady() + telemetryLimits.room.gatherMs);
  const answer = await sent;
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
});

test("records without content count as much as the work that they are", async () => {
  const empty = { resourceLogs: [{ scopeLogs: [{ logRecords: Array.from({ length: 120_000 }, () => ({})) }] }] };
  const body = encodeProtobuf(requestShapes.logs, empty);
  expect(body.length).toBeLessThan(500_000);
  const headers = { "Content-Type": "application/x-protobuf" };
  const before = world.clock.sleepers;
  const sent = [0, 1, 2].map(() => send({ path: "/v1/logs", body, headers }));
  await waitFor("the records to wait for their write", async () => world.clock.sleepers > before);
  expect((await Promise.race(sent)).status).toBe(429);
  world.clock.moveTo(world.clock.steady() + telemetryLimits.room.gatherMs);
  for (const one of sent) expect([429, 503]).toContain((await one).status);
}, 30_000);

test("so do points of metrics", async () => {
  const dataPoints = Array.from({ length: 20_000 }, () => ({}));
  const metrics = [{ name: "m", gauge: { dataPoints } }];
  const body = encodeProtobuf(requestShapes.metrics, { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
  expect(body.length).toBeLessThan(100_000);
  const headers = { "Content-Type": "application/x-protobuf" };
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await send({ path: "/v1/metrics", body, headers })).status);
  expect(statuses).toEqual([200, 429, 429]);
}, 30_000);
