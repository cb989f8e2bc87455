import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Front, startFront } from "../../../src/base/http/front/front.ts";
import { limits } from "../../../src/config/config.ts";
import { telemetryLimits } from "../../../src/config/telemetry-limits.ts";
import { createTelemetryApp } from "../../../src/observability/http/telemetry.ts";
import { requestShapes, type Signal } from "../../../src/observability/core/otlp/shapes.ts";
import type { MetricCatalogue } from "../../../src/observability/api/metrics.ts";
import type { StartDecodeThread } from "../../../src/observability/service/telemetry/decode-thread.ts";
import type { Sender } from "../../../src/orchestration/api/sender.ts";
import { planeWorld, type PlaneWorld } from "../../support/observability.ts";
import { decodeHere, encodeProtobuf, oneMetric, text } from "../../support/otlp.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

const web: Sender = {
  ...{ key: { kind: "deployment", scope: "shop", name: "web" }, id: "c1", pod: "shop-web.a1", replicaId: "a1" },
  ...{ ordinal: undefined, releaseId: undefined, role: undefined, wantsTelemetry: true },
};

let world: PlaneWorld;
let front: Front;
/** Who the next connection is. */
let who: Sender | undefined;
let looks: number;
/** Requests that came as far as their body. */
let bodies: number;

beforeEach(async () => {
  [who, looks, bodies] = [web, 0, 0];
  world = planeWorld();
  const app = createTelemetryApp({
    room: world.running.observability.telemetry,
    senders: {
      async at() {
        looks += 1;
        return who;
      },
    },
    peerHeader: "X-Berth-Peer",
    limits: { ...telemetryLimits.http, ...telemetryLimits.front, holdMs: 1 },
    log: silentLog,
  });
  front = await startFront({
    encodedBodies: true,
    tcp: { hostname: "127.0.0.1", port: 0, admit: app.admit },
    vet: app.vet,
    app(request) {
      bodies += 1;
      return app.fetch(request);
    },
    peerHeader: "X-Berth-Peer",
    limits: { ...limits, ...telemetryLimits.front },
    log: silentLog,
  });
});
afterEach(async () => {
  await front.stop(0);
  world.close();
});

interface Sent {
  path?: string;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  headers?: Record<string, string>;
  method?: string;
}

async function send({ path = "/v1/metrics", body = "{}", headers = {}, method = "POST" }: Sent = {}) {
  const given = { "Content-Type": "application/json", ...headers };
  const sent = method === "GET" ? {} : { body };
  const response = await fetch(`http://${front.addresses[0]}${path}`, { method, headers: given, ...sent });
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
    [{ path: "/v1/profiles" }, 404, "does not exist here"],
    [{ method: "GET" }, 405, "use POST"],
    [{ headers: { "Content-Type": "text/plain" } }, 415, "application/x-protobuf"],
    [{ headers: { "Content-Encoding": "br" } }, 415, "use gzip"],
    [{ headers: { "Content-Encoding": "gzip" } }, 400, "not gzip"],
    [{ body: `{"resourceMetrics": [${"0,".repeat(1_000_000)}0]}` }, 400, "more than 1000000 values"],
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

test("only containers whose manifest asks for it are listened to, and the others are refused before their body", async () => {
  const cases: [Sender | undefined, string][] = [
    [undefined, "127.0.0.1 is not known here"],
    [{ ...web, wantsTelemetry: false }, 'shop-web.a1 sends telemetry, but its manifest does not say "telemetry: true"'],
  ];
  for (const [sender, message] of cases) {
    who = sender;
    const answer = await send({ headers: { Connection: "close" } });
    expect([answer.status, JSON.parse(words(answer.bytes)).message]).toEqual([403, expect.stringContaining(message)]);
  }
  expect(bodies).toBe(0);
});

test("who a container is, is asked once for each connection", async () => {
  for (let count = 0; count < 5; count++) expect((await send()).status).toBe(200);
  expect([looks, bodies]).toEqual([1, 5]);
});

test("a small body that grows beyond all limits when decompressed is a 413", async () => {
  const headers = { "Content-Encoding": "gzip" };
  const { inflatedBytesMax, inflatedBytesFree, inflatedRatioMax } = telemetryLimits.room.decode;
  // Bytes without order, repeated: too large, but not by its ratio.
  const block = crypto.getRandomValues(new Uint8Array(20_000));
  const large = Bun.gzipSync(Buffer.concat(Array.from({ length: inflatedBytesMax / 20_000 + 1 }, () => block)));
  expect(large.length * inflatedRatioMax).toBeGreaterThan(inflatedBytesMax);
  const bomb = Bun.gzipSync(new Uint8Array(inflatedBytesFree + 1));
  for (const [body, text] of [
    [large, `larger than ${inflatedBytesMax} bytes when decompressed`],
    [bomb, `grows more than ${inflatedRatioMax} times`],
  ] as const) {
    const answer = await send({ body, headers });
    expect([answer.status, words(answer.bytes)]).toEqual([413, expect.stringContaining(text)]);
  }
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
  const sent = send({ path: "/v1/logs", body });
  let isOver = false;
  void sent.finally(() => {
    isOver = true;
  });
  await waitFor("the write of the records", async () => {
    world.clock.moveTo(world.clock.steady() + telemetryLimits.room.gatherMs);
    return isOver;
  });
  const answer = await sent;
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
});

/** Requests that are small, and much work. */
const empties: Record<Signal, Record<string, unknown>> = {
  logs: { resourceLogs: [{ scopeLogs: [{ logRecords: Array.from({ length: 190_000 }, () => ({})) }] }] },
  metrics: {
    resourceMetrics: [
      {
        scopeMetrics: [{ metrics: [{ name: "m", gauge: { dataPoints: Array.from({ length: 20_000 }, () => ({})) } }] }],
      },
    ],
  },
  traces: { resourceSpans: [{ scopeSpans: [{ spans: Array.from({ length: 40_000 }, () => ({})) }] }] },
};

for (const signal of Object.keys(empties) as Signal[])
  for (const encoding of ["protobuf", "json"] as const)
    for (const coding of encoding === "json" ? ["gzip"] : ["gzip", "identity"])
      test(`${signal} without content, ${encoding}, ${coding}: a spent budget refuses before the body is read`, async () => {
        const isProtobuf = encoding === "protobuf";
        const plain = isProtobuf
          ? encodeProtobuf(requestShapes[signal], empties[signal])
          : Buffer.from(JSON.stringify(empties[signal]));
        const body = coding === "gzip" ? Bun.gzipSync(plain) : plain;
        const type = isProtobuf ? "application/x-protobuf" : "application/json";
        const headers = { "Content-Type": type, "Content-Encoding": coding };
        const statuses = [];
        let moving = signal === "logs";
        const turning = (async () => {
          while (moving) {
            await Bun.sleep(1);
            // Lets the gathered records be written, and gives the bucket next to nothing.
            world.clock.moveTo(world.clock.steady() + 1);
          }
        })();
        while (statuses.length < 4 && statuses.at(-1) !== 429)
          statuses.push((await send({ path: `/v1/${signal}`, body, headers })).status);
        expect(statuses.at(-1)).toBe(429);
        moving = false;
        await turning;
        const before = bodies;
        const refused = await send({ path: `/v1/${signal}`, body, headers });
        expect([refused.status, Number(refused.headers.get("retry-after")) > 0, bodies]).toEqual([429, true, before]);
        expect(refused.headers.get("content-type")).toBe(type);
      }, 30_000);

test("a body without a length is counted by what it was", async () => {
  const body = () => new Blob(["{}"]).stream();
  const { bytes, requests } = telemetryLimits.room;
  const most = Math.ceil(bytes.burst / telemetryLimits.front.bodyBytesMax) + 2;
  expect(most).toBeLessThan(requests.burst);
  for (let count = 0; count < most; count++) expect((await send({ body: body() })).status).toBe(200);
});

test("the thread that decodes starts with the first request, ends when nothing comes, and is replaced when it hangs", async () => {
  let started = 0;
  let ended = 0;
  let mute = false;
  const decoding: StartDecodeThread = (events) => {
    started += 1;
    const own = decodeHere(events);
    return {
      post: (...given) => void (mute || own.post(...given)),
      end() {
        ended += 1;
        own.end();
      },
    };
  };
  const plane = planeWorld({ decoding });
  const { telemetry } = plane.running.observability;
  const sent = () => ({ sender: web, signal: "metrics", encoding: "json", isPacked: false, counted: 2 }) as const;
  const take = () => telemetry.take({ ...sent(), body: Uint8Array.from(Buffer.from("{}")).buffer });
  expect(started).toBe(0);
  expect(await take()).toEqual({ rejected: 0, message: "" });
  await take();
  expect([started, ended]).toEqual([1, 0]);
  plane.clock.moveTo(plane.clock.steady() + telemetryLimits.room.thread.idleMs);
  await waitFor("the end of the thread", () => ended === 1);
  await take();
  mute = true;
  const hanging = take();
  const waited = waitFor("the thread to be given up", () => {
    plane.clock.moveTo(plane.clock.steady() + telemetryLimits.room.thread.deadlineMs);
    return ended === 2;
  });
  await expect(hanging).rejects.toThrow("was not decoded: try again");
  await waited;
  mute = false;
  await take();
  expect(started).toBe(3);
  plane.close();
});
