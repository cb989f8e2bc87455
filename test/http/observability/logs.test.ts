import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoggedContainer } from "../../../src/observability/collect/logs/capture.ts";
import { type LogFiles, logFiles } from "../../support/log-world.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;
let files: LogFiles;
let web: LoggedContainer;

interface Line {
  text: string;
  level: string;
  at: string;
}

beforeEach(async () => {
  files = logFiles();
  it = planeWorld({ logs: files.platform });
  web = files.container("shop/web", "aaaaa");
  files.write(web, '{"level":"info","msg":"order placed","status":200}', "ERROR payment failed", "plain words");
  const blog = files.container("blog/web", "bbbbb");
  files.write(blog, "blog speaks");
  await it.running.observability.logs.drain("shop-web.aaaaa");
  await it.running.observability.logs.drain("blog-web.bbbbb");
});
afterEach(() => {
  it.close();
  files.close();
});

/** The clock of the plane is not that of the lines here. */
const around = () =>
  `from=${new Date(Date.now() - 300_000).toISOString()}&until=${new Date(Date.now() + 60_000).toISOString()}`;
const texts = (lines: unknown) => (lines as Line[]).map(({ text }) => text);

describe("GET /logs/search", () => {
  test("finds lines by text, level, field and app, the newest first", async () => {
    const all = await it.manage("GET /logs/search?app=shop");
    expect(texts(all.data.lines)).toEqual([
      "plain words",
      "ERROR payment failed",
      expect.stringContaining("order placed"),
    ]);
    expect(all.data.lines).toMatchObject([
      {
        scope: "shop",
        name: "web",
        pod: "shop-web.aaaaa",
        replica_id: "aaaaa",
        release_id: "r1",
        stream: "stdout",
        level: "none",
      },
      { level: "error" },
      { level: "info" },
    ]);
    expect(texts((await it.manage("GET /logs/search?q=payment")).data.lines)).toEqual(["ERROR payment failed"]);
    expect(texts((await it.manage("GET /logs/search?level=error")).data.lines)).toEqual(["ERROR payment failed"]);
    expect(
      texts((await it.manage(`GET /logs/search?q=${encodeURIComponent("status=200 order")}`)).data.lines),
    ).toHaveLength(1);
    expect(texts((await it.manage("GET /logs/search?from=1h&order=asc&app=blog/web")).data.lines)).toEqual([
      "blog speaks",
    ]);
  });

  test("goes on with a cursor, and ends", async () => {
    const first = await it.manage("GET /logs/search?app=shop/web&limit=2");
    expect(first.data.lines).toHaveLength(2);
    const second = await it.manage(`GET /logs/search?app=shop/web&limit=2&cursor=${first.data.cursor}`);
    expect(second.data.lines).toHaveLength(1);
    expect(second.data.cursor).toBeUndefined();
  });

  test("a page of very long lines ends early, and its cursor leads to the rest", async () => {
    const long = Array.from({ length: 20 }, (_, at) => `${at} ${"x".repeat(255_000)}`);
    const api = files.container("shop/api", "ccccc");
    files.write(api, ...long);
    await it.running.observability.logs.drain("shop-api.ccccc");
    const first = await it.manage("GET /logs/search?app=shop/api&order=asc&limit=10000");
    expect(texts(first.data.lines)).toEqual(long.slice(0, 16));
    const rest = await it.manage(`GET /logs/search?app=shop/api&order=asc&limit=10000&cursor=${first.data.cursor}`);
    expect(texts(rest.data.lines)).toEqual(long.slice(16));
    expect(rest.data.cursor).toBeUndefined();
  });

  test("shows a token only the apps that it may reach", async () => {
    const token = await it.token(["read"], { apps: ["blog/*"] });
    expect(texts((await it.ask("GET /logs/search", { token })).data.lines)).toEqual(["blog speaks"]);
    expect(texts((await it.ask("GET /logs/search?app=shop", { token })).data.lines)).toEqual([]);
    expect((await it.ask(`GET /logs/histogram?${around()}`, { token })).data.total).toBe(1);
    expect(
      (await it.ask("GET /logs/state", { token: await it.token(["host:read"], { apps: ["blog/*"] }) })).status,
    ).toBe(403);
    expect((await it.ask("GET /logs/state", { token: await it.token(["host:read"]) })).data.containers).toBe(2);
  });

  test.each([
    ["search?limit=0", 'query limit: "0" is not a whole number from 1 to 10000'],
    ["search?cursor=x", 'cursor: "x" is not a cursor'],
    ["search?order=up", 'query order: "up" is neither desc nor asc'],
    ["search?level=loud", 'query level: unknown level "loud"'],
    ["search?from=soon", 'query from: "soon" is not a time'],
    ["search?app=a//b", 'query app: "a//b" is not SCOPE or SCOPE/NAME'],
    ["search?q=/(a%2B)%2B/", "repeats a group"],
    ["context?app=shop&at=1", "query app: write SCOPE/NAME"],
    ["context?app=shop/web", "query at: missing"],
    ["histogram?from=1&until=1", "query from: it is not before until"],
    ["stream?tail=many", 'query tail: "many" is not a whole number'],
    ["stream?q=level=loud", 'unknown level "loud"'],
  ])("%s is refused with what is wrong", async (path, fault) => {
    const answer = await it.manage(`GET /logs/${path}`);
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(fault)]);
  });
});

test("GET /logs/context shows the lines around a time", async () => {
  const { data } = await it.manage("GET /logs/search?q=payment");
  const at = (data.lines as Line[])[0]?.at;
  const context = await it.manage(`GET /logs/context?app=shop/web&at=${at}&before=1&after=5`);
  expect(texts(context.data.before)).toEqual(["ERROR payment failed"]);
  expect(texts(context.data.after)).toEqual(["plain words"]);
  const first = await it.manage(`GET /logs/context?app=shop/web&at=${at}&text=ERROR&before=2&after=0`);
  expect(texts(first.data.before)).toEqual([expect.stringContaining("order placed"), "ERROR payment failed"]);
  expect(first.data.after).toEqual([]);
});

test("GET /logs/histogram counts by level", async () => {
  const { data } = await it.manage(`GET /logs/histogram?${around()}&app=shop`);
  expect(data.total).toBe(3);
  const counts = (data.buckets as { counts: Record<string, number> }[]).map((bucket) => bucket.counts);
  expect(counts.reduce((sum, one) => sum + (one.error ?? 0), 0)).toBe(1);
});

test("every answer says which lines cannot be read because a block is damaged", async () => {
  const place = join(files.folder, "store/shop/web");
  const file = join(place, readdirSync(place)[0] ?? "");
  const bytes = readFileSync(file);
  bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const found = await it.manage("GET /logs/search");
  expect(texts(found.data.lines)).toEqual(["blog speaks"]);
  const [missing] = found.data.missing as { from: string; until: string }[];
  expect(found.data.missing).toEqual([
    { scope: "shop", name: "web", from: missing?.from, until: missing?.until, blocks: 1, lines: 3 },
  ]);
  expect((await it.manage(`GET /logs/histogram?${around()}`)).data.missing).toEqual(found.data.missing);
  expect((await it.manage(`GET /logs/context?app=shop/web&at=${missing?.from}`)).data.missing).toEqual(
    found.data.missing,
  );
  expect((await it.manage("GET /logs/search?app=blog/web")).data.missing).toBeUndefined();
  const stream = await it.manage("GET /logs/stream?app=shop/web");
  expect(stream.text).toContain("3 lines between");
});

function readerOf({ body }: Response) {
  if (body === null) throw new Error("the answer has no body");
  return body.getReader();
}

describe("GET /logs/stream", () => {
  const open = async (query: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await it.app.fetch(new Request(`http://plane.test/api/pat/v1/logs/stream?${query}`, { headers }));
    return { reader: readerOf(response) };
  };
  const readLines = async (reader: ReturnType<typeof readerOf>, count: number): Promise<string[]> => {
    let text = "";
    while (text.split("\n").filter((line) => line !== "").length < count) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
    }
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as Line).text);
  };

  test("answers with what is stored and ends", async () => {
    const { reader } = await open("app=shop/web&tail=2", await it.token());
    expect(await readLines(reader, 99)).toEqual(["ERROR payment failed", "plain words"]);
  });

  test("goes on with what comes, without a gap or a double", async () => {
    const { reader } = await open("app=shop/web&follow=true", await it.token());
    const stored = await readLines(reader, 3);
    files.write(web, ...Array.from({ length: 500 }, (_, at) => `line ${at}`));
    const live = await readLines(reader, 500);
    expect([...stored.slice(1), ...live]).toEqual([
      "ERROR payment failed",
      "plain words",
      ...Array.from({ length: 500 }, (_, at) => `line ${at}`),
    ]);
    await reader.cancel();
    expect(it.running.observability.streams.count()).toBe(0);
  });

  test("answers at once, also when nothing is written", async () => {
    const { reader } = await open("app=shop/web&follow=true&tail=0", await it.token());
    expect(Buffer.from((await reader.read()).value ?? new Uint8Array()).toString()).toBe("\n");
    await reader.cancel();
  });

  test("ends with its token", async () => {
    const token = await it.token();
    const { reader } = await open("follow=true&tail=0", token);
    const { data } = await it.manage("GET /pats");
    const [{ id }] = data.pats as [{ id: string }];
    await it.manage(`DELETE /pats/${id}`);
    let done = false;
    while (!done) ({ done } = await reader.read());
    expect(it.running.observability.streams.count()).toBe(0);
  });
});

test("a server that keeps no logs says so", async () => {
  const other = planeWorld();
  const answer = await other.manage("GET /logs/search");
  expect([answer.status, answer.error]).toEqual([503, "logs are not kept by this server"]);
  other.close();
});

test("drains are for admins who may see every app", async () => {
  const body = { target: { type: "http", url: "https://logs.test" } };
  expect((await it.ask("GET /logs/drains", { token: await it.token(["read"]) })).status).toBe(403);
  expect((await it.ask("GET /logs/drains", { token: await it.olderToken(["admin"], ["shop"]) })).status).toBe(403);
  expect((await it.manage("GET /logs/drains")).data).toEqual({ drains: [] });
  expect((await it.manage("PUT /logs/drains/a", body)).status).toBe(503);
  expect((await it.manage("PUT /logs/drains/a", { target: { type: "fax" } })).status).toBe(400);
  expect((await it.manage("POST /logs/drains/a/test")).status).toBe(404);
});
