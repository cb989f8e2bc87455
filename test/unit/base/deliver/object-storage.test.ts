import { afterAll, beforeEach, expect, test } from "bun:test";
import { createObjectSender } from "../../../../src/base/deliver/object-storage.ts";
import { thrownBy } from "../../../support/failure.ts";

let seen: { method: string; path: string; host: string | null; type: string | null; signed: boolean; body: string }[] =
  [];
let answer = () => new Response("");
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    seen.push({
      method: request.method,
      path: pathname,
      host: request.headers.get("host"),
      type: request.headers.get("content-type"),
      signed: /^[0-9a-f]{64}$/.test(searchParams.get("X-Amz-Signature") ?? ""),
      body: await request.text(),
    });
    return answer();
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  seen = [];
  answer = () => new Response("");
});

const place = {
  bucket: "logs",
  endpoint: `http://storage.test:${server.port}`,
  region: "eu-1",
  accessKeyId: "AKID",
  secretAccessKey: "secret",
};
const object = { name: "a/b c.gz", bytes: new TextEncoder().encode("lines"), type: "application/gzip" };
let asked = 0;
const make = (allowPrivate = true) =>
  createObjectSender({
    ...{ allowPrivate, limitMs: 2_000, bodyBytesMax: 10_000, fetch: (url, init) => fetch(url, init) },
    resolve: async () => {
      asked += 1;
      // A second answer would be another address.
      return asked > 1 ? ["127.0.0.2"] : ["127.0.0.1"];
    },
  });

test("an object is signed, and sent to the address that was checked once", async () => {
  asked = 0;
  await make()(place, object);
  const host = `storage.test:${server.port}`;
  expect(seen).toEqual([
    { method: "PUT", path: "/logs/a/b%20c.gz", host, type: "application/gzip", signed: true, body: "lines" },
  ]);
  expect(asked).toBe(1);
});

test("a refusal is told with its code alone, and a redirect is one", async () => {
  asked = 0;
  answer = () => new Response("<Error><Code>NoSuchBucket</Code><Message>secret</Message></Error>", { status: 404 });
  expect(await thrownBy(() => make()(place, object))).toMatchObject({
    code: "unavailable",
    message: "bucket logs: the storage answered 404 (NoSuchBucket)",
  });
  asked = 0;
  answer = () => Response.redirect("http://127.0.0.1:1/", 307);
  expect(await thrownBy(() => make()(place, object))).toMatchObject({
    message: "bucket logs: the storage answered 307",
  });
  expect(seen).toHaveLength(2);
});

test("a private endpoint is refused before anything is sent, whatever is in its fields", async () => {
  const closed = make(false);
  const endpoints = [
    "https://127.0.0.1:1",
    `https://[::1]:${server.port}`,
    "https://169.254.169.254",
    "https://x.test",
  ];
  for (const endpoint of endpoints) {
    const told = await thrownBy(() => closed({ ...place, endpoint }, object));
    expect([endpoint, told]).toEqual([endpoint, expect.objectContaining({ code: "forbidden" })]);
  }
  for (const [field, text] of [
    ["region", `x@127.0.0.1:${server.port}/`],
    ["region", "x.test/#"],
    ["bucket", "../../x"],
  ] as const) {
    const odd = { ...place, endpoint: undefined, [field]: text };
    const refused = createObjectSender({
      ...{ allowPrivate: false, limitMs: 500, bodyBytesMax: 100 },
      fetch: () => Promise.reject(new Error("sent")),
      resolve: async () => ["10.0.0.1"],
    });
    expect(await thrownBy(() => refused(odd, object))).toMatchObject({ name: "Failure" });
  }
  expect(seen).toEqual([]);
});
