import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Listener } from "../../../src/base/http/listener.ts";
import { appsLimits } from "../../../src/config/apps-limits.ts";
import { appFacts, replicaFacts } from "../../support/app-facts.ts";
import { type EventReader, readEvents } from "../../support/event-stream.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";
import { waitFor } from "../../support/wait.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const calm = { upSince: now - 120_000 };
const web = appFacts({ pods: [replicaFacts(calm)] });
const api = appFacts({ scope: "back", name: "api", pods: [replicaFacts({ ...calm, name: "back-api.abcde" })] });

let it: PlaneWorld;
let listener: Listener;
let stopping: AbortController;
let running: Promise<void>;
let readers: EventReader[];
let seq: number;

beforeEach(async () => {
  readers = [];
  seq = 7;
  await start();
});
afterEach(stop);

const event = (scope: string) => ({ at: "2026-01-01T00:00:00Z", actor: "ana", action: "restart", scope, name: "web" });

async function start() {
  it = planeWorld({
    apps: [web, api],
    limits: { apps: { ...appsLimits, stream: { ...appsLimits.stream, ringEvents: 30 } } },
    controller: {
      events: ({ after }) => ({
        events:
          after !== undefined && after < seq
            ? [{ seq, ...event("shop") }]
            : [{ seq: after ?? 7, ...event("shop") }].slice(after === undefined ? 0 : 1),
      }),
    },
  });
  listener = it.listen();
  stopping = new AbortController();
  running = it.running.run(stopping.signal);
}

async function stop() {
  for (const reader of readers) reader.leave();
  stopping.abort();
  await running;
  await listener.stop(0);
  it.close();
}

async function open(token: string, query = "", headers: Record<string, string> = {}): Promise<EventReader> {
  const url = `http://${listener.address}/api/pat/v1/stream${query}`;
  const reader = await readEvents(url, { Authorization: `Bearer ${token}`, ...headers });
  readers.push(reader);
  return reader;
}

const names = (data: Record<string, unknown>) => (data.apps as { name: string }[]).map(({ name }) => name).sort();

/** Time passes from one due moment to the next, so that what wakes can do its work. */
async function pass(ms: number) {
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const end = it.clock.steady() + ms;
  await turns();
  while (it.clock.steady() < end) {
    it.clock.moveTo(Math.min(it.clock.nextDue() ?? end, end));
    await turns();
  }
}

const crashed = { ...web, pods: [replicaFacts({ upSince: now, crashes: 4, exitCode: 1 })] };

test("a stream begins with the present state and goes on with what changes", async () => {
  const reader = await open(await it.token());
  const hello = await reader.first("hello");
  expect(hello.data).toMatchObject({ topics: ["state"], resumed: false, version: "1" });
  const snapshot = await reader.first("snapshot");
  expect(names(snapshot.data)).toEqual(["api", "web"]);
  expect(snapshot.id).toMatch(/^[0-9a-f]{12}-\d+$/);
  const before = reader.events.length;
  it.watch.put(crashed);
  await pass(200);
  const changed = await reader.first("app", before);
  expect(changed.data).toMatchObject({ name: "web", state: "crashing" });
  expect((await reader.first("problems", before)).data.problems).toContainEqual(
    expect.objectContaining({ id: "crash_loop/deployment/shop/web" }),
  );
  it.watch.remove(web);
  await pass(200);
  expect((await reader.first("gone", before)).data).toEqual({ kind: "deployment", scope: "shop", name: "web" });
});

test("a quiet stream is kept open by comments", async () => {
  const reader = await open(await it.token());
  await reader.first("snapshot");
  for (let pings = 0; pings < 3; pings += 1) {
    await pass(5_000);
    await waitFor("a comment", () => reader.comments > pings);
  }
  expect(reader.ended).toBe(false);
});

test("a client that comes back gets what it missed and nothing else", async () => {
  const token = await it.token();
  const first = await open(token);
  const { id = "" } = await first.first("snapshot");
  first.leave();
  it.watch.put(crashed);
  await pass(200);
  for (const how of ["header", "query"]) {
    const isHeader = how === "header";
    const again = await (isHeader ? open(token, "", { "Last-Event-ID": id }) : open(token, `?last_event_id=${id}`));
    expect((await again.first("hello")).data.resumed).toBe(true);
    expect((await again.first("app")).data).toMatchObject({ name: "web", state: "crashing" });
    expect(again.events.map(({ type }) => type)).not.toContain("snapshot");
  }
});

test("a client that was away for too long, or comes from another run of the server, is told so and gets a snapshot", async () => {
  const token = await it.token();
  const first = await open(token);
  const { id = "" } = await first.first("snapshot");
  first.leave();
  for (let change = 0; change < 50; change += 1) {
    it.watch.put({ ...web, revision: change + 2, image: `web:${change}` });
    await it.ask("GET /apps", { token });
  }
  const cases = [
    [id, "gap"],
    ["abc-12", "server"],
    ["nonsense", "server"],
  ];
  for (const [lastId = "", reason] of cases) {
    const again = await open(token, "", { "Last-Event-ID": lastId });
    expect((await again.first("reset")).data).toEqual({ reason });
    expect(names((await again.first("snapshot")).data)).toEqual(["api", "web"]);
  }
});

test("a token that is revoked ends its streams at once, and no others", async () => {
  const token = await it.token();
  const other = await it.token();
  const cut = await open(token);
  const kept = await open(other);
  await cut.first("snapshot");
  await kept.first("snapshot");
  await it.manage(`DELETE /pats/${token.slice(4, 10)}`);
  await waitFor("the end of the stream", () => cut.ended);
  expect(kept.ended).toBe(false);
  expect((await open(token)).status).toBe(401);
});

test("what a token may not reach is on none of its streams", async () => {
  const token = await it.token(["read"], { apps: ["shop"] });
  const reader = await open(token, "?topics=state,metrics,events,alerts");
  expect(names((await reader.first("snapshot")).data)).toEqual(["web"]);
  it.watch.put({ ...api, pods: [replicaFacts({ upSince: now, crashes: 4 })] });
  await pass(200);
  it.running.observability.apps.stream.alert({ title: "back/api is down" }, { scope: "back", name: "api" });
  it.running.observability.apps.stream.alert({ title: "the disk is full" }, undefined);
  it.running.observability.apps.stream.alert({ title: "shop/web is down" }, { scope: "shop", name: "web" });
  const alert = await reader.first("alert");
  expect(alert.data).toEqual({ title: "shop/web is down" });
  await pass(5_000);
  await reader.first("metrics");
  expect(JSON.stringify(reader.events)).not.toContain("api");
  expect(JSON.stringify(reader.events)).not.toContain("disk");
});

test("one app of those within reach can be asked for", async () => {
  const reader = await open(await it.token(), "?topics=state&app=back/api");
  expect(names((await reader.first("snapshot")).data)).toEqual(["api"]);
});

test("the event log comes as sentences", async () => {
  const reader = await open(await it.token(), "?topics=events");
  await reader.first("hello");
  await pass(1_000);
  seq = 8;
  await pass(1_000);
  expect((await reader.first("event")).data).toMatchObject({ seq: 8, title: "shop/web was restarted" });
});

test("an operation is followed on the stream", async () => {
  const token = await it.token(["read", "actions"]);
  const reader = await open(token);
  await reader.first("snapshot");
  const answer = await it.ask("POST /apps/shop/web/restart", { token });
  const { id } = answer.data.operation as { id: string };
  expect((await reader.first("operation")).data).toMatchObject({ id, type: "restart", state: "running" });
});

test.each(["?topics=state,logz", "?topics=state&app=a/b/c"])("%s is a 400", async (query) => {
  const answer = await it.ask(`GET /stream${query}`, { token: await it.token() });
  expect(answer.status).toBe(400);
});

test("a crash loop is on the stream as ready at no moment", async () => {
  const reader = await open(await it.token());
  await reader.first("snapshot");
  const before = reader.events.length;
  for (let crash = 1; crash < 6; crash += 1) {
    const down = { state: "exited", upSince: undefined, ready: false, crashes: crash - 1, exitCode: 1 };
    const up = { state: "running", ready: true, crashes: crash, restarts: crash, exitCode: 1 };
    for (const facts of [down, { ...up, upSince: undefined }, { ...up, upSince: it.clock.now() }]) {
      it.watch.put({ ...web, pods: [replicaFacts(facts)] });
      await pass(200);
    }
  }
  const states = () => reader.events.slice(before).filter(({ type }) => type === "app");
  await waitFor("the last state", () => states().at(-1)?.data.state === "crashing");
  expect(states().map(({ data }) => data.state)).not.toContain("ready");
});
