import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { createGuardedFetch } from "../../../../src/base/deliver/guarded-fetch.ts";
import { createPinned } from "../../../../src/base/deliver/pinned.ts";
import { type ConnectProxy, startConnectProxy } from "../../../support/connect-proxy.ts";
import { expectFailure } from "../../../support/failure.ts";
import { testCertificate } from "../../../support/self-signed.ts";

const pem = testCertificate(["hook.test"]);
let target: Bun.Server<undefined>;
let proxy: ConnectProxy;
beforeAll(() => {
  target = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: pem, key: pem },
    fetch: ({ headers }) => new Response(`for ${headers.get("host")}`),
  });
  proxy = startConnectProxy(target.port ?? 0);
});
afterAll(async () => {
  proxy.stop();
  await target.stop(true);
});

const signal = AbortSignal.timeout(10_000);

/** A guarded request whose names lead to `address`. */
function asking(address: string, { allowPrivate = false, ...variables }: Record<string, string | boolean> = {}) {
  const pinned = createPinned({ https_proxy: proxy.url, http_proxy: proxy.url, ...(variables as object) });
  return createGuardedFetch({
    fetch: (url, init, asked) => pinned(url, { ...init, tls: { ...init.tls, ca: pem } }, asked),
    resolve: async () => [address],
    allowPrivate: allowPrivate === true,
    headMs: 2_000,
    bodyBytesMax: 1_000,
  });
}
const get = (url: string) => ({ method: "GET" as const, url, headers: {} });

test("the proxy gets the checked address and never the name, and the certificate must be that of the name", async () => {
  const answer = await asking("1.1.1.1")(get("https://hook.test/a?b"), signal);
  expect([answer.status, answer.body]).toEqual([200, "for hook.test"]);
  expect(proxy.asked.splice(0)).toEqual(["CONNECT 1.1.1.1:443"]);
  const wrong = await expectFailure(asking("1.1.1.1")(get("https://other.test/"), signal), "unavailable");
  expect(wrong.message).toBe("other.test: the certificate is for another host");
  proxy.asked.length = 0;
});

test("an address that is closed is refused before the proxy hears of it", async () => {
  for (const address of ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00::1"]) {
    await expectFailure(asking(address)(get("https://hook.test/"), signal), "forbidden");
  }
  expect(proxy.asked).toEqual([]);
});

test("addresses inside never go through the proxy where they are allowed", async () => {
  const inside = asking("127.0.0.1", { allowPrivate: true });
  expect((await inside(get(`https://hook.test:${target.port}/`), signal)).body).toBe(`for hook.test:${target.port}`);
  await using plain = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("plain") });
  expect((await inside(get(`http://hook.test:${plain.port}/`), signal)).body).toBe("plain");
  expect(proxy.asked).toEqual([]);
});

test("a host of no_proxy is known by its name, although the request goes to its address", async () => {
  // Nothing is sent to an address of the open internet.
  using platform = spyOn(globalThis, "fetch").mockImplementation(
    (async () => new Response("")) as unknown as typeof fetch,
  );
  const way = createPinned({ https_proxy: proxy.url, no_proxy: "hook.test" });
  await way("https://1.1.1.1/", {}, new URL("https://hook.test/"));
  await way("https://1.1.1.1/", {}, new URL("https://other.test/"));
  await way("http://1.1.1.1/", {}, new URL("http://other.test/"));
  expect(platform.mock.calls.map(([, init]) => (init as BunFetchRequestInit).proxy)).toEqual([false, proxy.url, false]);
});

test("a proxy that refuses is told from the receiver", async () => {
  using refusing = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") },
  });
  const asked = asking("1.1.1.1", { https_proxy: `http://127.0.0.1:${refusing.port}` });
  const failure = await expectFailure(asked(get("https://hook.test/"), signal), "unavailable");
  expect(failure.message).toBe("hook.test: the proxy refuses to connect to it");
});
