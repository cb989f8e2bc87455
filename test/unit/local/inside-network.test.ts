import { afterAll, describe, expect, test } from "bun:test";
import { createInsideNetwork } from "../../../src/local/inside-network.ts";
import { testCertificate } from "../../support/self-signed.ts";

const pem = testCertificate(["live.example.com"]);
const answer = (request: Request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/away") return new Response(null, { status: 302, headers: { Location: "/a" } });
  if (pathname === "/down") return new Response("no database", { status: 503 });
  return new Response("x".repeat(200_000), { headers: { "X-Host": request.headers.get("host") ?? "" } });
};
const servers = {
  http: Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer }),
  https: Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer, tls: { key: pem, cert: pem } }),
};
const mute = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: () => undefined } });
afterAll(async () => {
  mute.stop(true);
  await Promise.all(Object.values(servers).map((server) => server.stop(true)));
});

/** The network of this process, entered without the rights of root. */
const inside = createInsideNetwork(() => [])(process.pid);
const ask = (url: string) =>
  inside.fetch(url, { signal: AbortSignal.timeout(10_000), headers: { Connection: "close" } });

describe.each(["http", "https"] as const)("%s in the network of a drill", (scheme) => {
  const at = (path: string) => `${scheme}://127.0.0.1:${servers[scheme].port}${path}`;

  test("the answer of the app itself counts, whatever address its certificate names", async () => {
    const response = await ask(at("/a"));
    expect([response.status, (await response.text()).length]).toEqual([200, 200_000]);
    expect(response.headers.get("x-host")).toBe(`127.0.0.1:${servers[scheme].port}`);
  });

  test("a refusal and a redirect are answers as they are", async () => {
    const down = await ask(at("/down"));
    expect([down.status, await down.text()]).toEqual([503, "no database"]);
    const away = await ask(at("/away"));
    expect([away.status, away.headers.get("location")]).toEqual([302, "/a"]);
  });

  test("a port that speaks something else, says nothing or is closed is no answer", async () => {
    const other = scheme === "http" ? "https" : "http";
    const wrong = ask(`${scheme}://127.0.0.1:${servers[other].port}/a`).then(
      ({ status }) => status,
      () => "failed",
    );
    expect([400, "failed"]).toContain(await wrong);
    const signal = AbortSignal.timeout(300);
    await expect(inside.fetch(`${scheme}://127.0.0.1:${mute.port}/`, { signal })).rejects.toThrow();
    await expect(ask(`${scheme}://127.0.0.1:1/`)).rejects.toThrow("connection refused");
  });
});

test("a port is knocked at", async () => {
  await inside.knock({ host: "127.0.0.1", port: servers.https.port ?? 0 }, AbortSignal.timeout(10_000));
  await expect(inside.knock({ host: "127.0.0.1", port: 1 }, AbortSignal.timeout(10_000))).rejects.toThrow(
    "connection refused",
  );
});
