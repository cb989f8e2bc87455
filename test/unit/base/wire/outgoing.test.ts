import { afterAll, beforeAll, expect, test } from "bun:test";
import { createOutside, direct } from "../../../../src/base/wire/outgoing.ts";
import { type ConnectProxy, startConnectProxy } from "../../../support/connect-proxy.ts";
import { expectFailure } from "../../../support/failure.ts";

let target: Bun.Server<undefined>;
let proxy: ConnectProxy;
const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const before = names.map((name) => [name, process.env[name]] as const);
beforeAll(() => {
  target = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("itself") });
  proxy = startConnectProxy(target.port ?? 0);
  for (const name of names) process.env[name] = proxy.url;
});
afterAll(async () => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  proxy.stop();
  await target.stop(true);
});

const textOf = async (answer: Promise<Response>) => (await answer).text();

test("a direct request does not take the proxy that the environment names", async () => {
  // What the platform does by itself, or there would be nothing to show.
  expect(await textOf(fetch(target.url.href))).toBe("by proxy\n");
  expect(await textOf(direct(target.url.href))).toBe("itself");
});

test("a request outside takes the proxy, but not for this machine", async () => {
  const outside = createOutside({ http_proxy: proxy.url });
  expect(await textOf(outside("http://a.test/"))).toBe("by proxy\n");
  expect(proxy.asked.at(-1)).toBe("GET http://a.test/");
  expect(await textOf(outside(target.url.href))).toBe("itself");
  const bare = createOutside({ HTTP_PROXY: proxy.url.replace("http://", "") });
  expect(await textOf(bare("http://a.test/"))).toBe("by proxy\n");
});

test("a request outside ignores a variable that was not given, also where the environment has it", async () => {
  const elsewhere = `http://0.0.0.0:${target.port}/`;
  expect(await textOf(fetch(elsewhere))).toBe("by proxy\n");
  expect(await textOf(createOutside({})(elsewhere))).toBe("itself");
});

test.each([
  ["socks5://user:secret@p:1", 'the variable all_proxy names a proxy for "socks5"; write http://HOST:PORT'],
  ["a b", "the variable all_proxy is not an address; write http://HOST:PORT"],
])("a proxy that is none for HTTP is refused in words: %s", async (value, message) => {
  const failure = await expectFailure(createOutside({ all_proxy: value })("https://a.test/"), "invalid");
  expect(failure.message).toBe(message);
});
