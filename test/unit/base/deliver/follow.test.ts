import { afterAll, beforeEach, expect, test } from "bun:test";
import { createFollow } from "../../../../src/base/deliver/follow.ts";
import { direct } from "../../../../src/base/wire/outgoing.ts";
import { thrownBy } from "../../../support/failure.ts";

let asked: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    asked.push(`${request.headers.get("host")?.replace(/:.*/, "")}${pathname}`);
    const to = searchParams.get("to");
    return to === null ? new Response("file") : new Response(null, { status: 302, headers: { location: to } });
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked = [];
});

const origin = `http://127.0.0.1:${server.port}`;
const make = (allowPrivate: boolean) =>
  createFollow({
    ...{ origin, headers: {}, allowPrivate, headMs: 2_000, fetch: direct, ask: direct },
    resolve: async () => ["127.0.0.1"],
  });
const signal = new AbortController().signal;
const via = (to: string) => `${origin}/a?to=${encodeURIComponent(to)}`;

test("redirects of the origin that the operator chose lead on, within it and to addresses that are checked", async () => {
  expect(await (await make(false)(via("/b"), { signal })).text()).toBe("file");
  expect(await (await make(true)(via(`http://files.test:${server.port}/c`), { signal })).text()).toBe("file");
  expect(asked).toEqual(["127.0.0.1/a", "127.0.0.1/b", "127.0.0.1/a", "files.test/c"]);
});

test("a redirect to a closed address, without encryption or to no address is refused, and none is followed for ever", async () => {
  const follow = make(false);
  const places = [
    `http://localhost:${server.port}/`,
    "https://169.254.169.254/",
    "https://files.test/",
    "file:///etc/passwd",
  ];
  for (const to of places) {
    const told = await thrownBy(() => follow(via(to), { signal }));
    expect([to, told]).toEqual([to, expect.objectContaining({ code: "forbidden" })]);
  }
  expect(await thrownBy(() => follow(via("http://["), { signal }))).toMatchObject({ code: "unavailable" });
  const long = Array.from({ length: 8 }).reduce<string>((to) => via(to), "/end");
  expect(await thrownBy(() => follow(long, { signal }))).toMatchObject({ code: "unavailable" });
  expect(asked.filter((path) => path === "127.0.0.1/end")).toEqual([]);
});

test("with manual the first answer is the result", async () => {
  expect((await make(false)(via("/b"), { signal, redirect: "manual" })).headers.get("location")).toBe("/b");
});
