import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Site } from "../../src/ingress/core/table.ts";
import { startProxy, type TestProxy } from "../support/haproxy.ts";
import { plainOptions, site, table, upstream } from "../support/ingress-table.ts";
import { freePort } from "../support/ports.ts";
import { exchange, statuses } from "../support/raw-http.ts";
import { waitFor } from "../support/wait.ts";

const bytes = 62_000_000;
const headBytes = 1_000_000;
const replica = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  // Bun itself would cut a client that pauses.
  idleTimeout: 0,
  fetch: async (request) =>
    request.method === "POST"
      ? new Response(String((await request.arrayBuffer()).byteLength))
      : new Response(new Uint8Array(bytes)),
});

const there = [upstream(replica.port ?? 0)];
let port: number;
let proxy: TestProxy;
const sites = (clientMs: number): Site[] =>
  // A replica is not silent while nobody takes what it sends.
  ["a", "b"].map((name) =>
    site(name, there, { options: { limits: { ...plainOptions.limits, responseMs: 1_000, clientMs } } }),
  );
const now = (changed: Site[]) => table(changed, { http: `127.0.0.1:${port}` });

beforeAll(async () => {
  port = await freePort();
  proxy = await startProxy(now(sites(1_000)));
});
afterAll(async () => {
  await proxy.stop();
  await replica.stop(true);
});

/** Bytes that a client gets which takes nothing for a while in the middle of a download. */
async function paused(version: string, seconds: number): Promise<number> {
  const words = `--http${version} --no-buffer --silent --header host:a.test http://127.0.0.1:${port}/`;
  const script = `curl ${words} | { head -c ${headBytes} >/dev/null; sleep ${seconds}; wc -c; }`;
  const { stdout } = Bun.spawn(["sh", "-c", script], { stdout: "pipe" });
  return headBytes + Number(await new Response(stdout).text());
}

test("a client that pauses is cut after the longest time that an ingress allows, and not before", async () => {
  const versions = ["1.1", "2-prior-knowledge"];
  const short = await Promise.all(versions.map((version) => paused(version, 3)));
  for (const got of short) expect(got).toBeLessThan(bytes - headBytes);
  const [a, b] = sites(1_000) as [Site, Site];
  const [patient] = sites(60_000) as [Site];
  const longer = { ...b, options: patient.options };
  expect((await proxy.apply(now([a, longer]))).reloadReasons).toEqual(["changed: base"]);
  await waitFor("the new process", async () => {
    const long = await Promise.all(versions.map((version) => paused(version, 3)));
    // `head` may take some more than it counts.
    return long.every((got) => got > bytes - headBytes);
  });
}, 60_000);

test("many headers pass, and too many are answered with our page", async () => {
  const ask = (count: number) => {
    const lines = Array.from({ length: count }, (_, index) => `x-${index}: 1\r\n`).join("");
    return exchange(port, `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\nConnection: close\r\n${lines}\r\n`);
  };
  expect(statuses(await ask(101))).toEqual([200]);
  expect(statuses(await ask(150))).toEqual([200]);
  const refused = await ask(600);
  expect(statuses(refused)).toEqual([431]);
  expect(refused).toContain("Too many headers");
  expect(refused).toMatch(/Reference: [0-9a-f-]{36}/);
});

test.each([
  ["GET / HTTP/1.1\r\nHost: a!b", 400],
  ["TRACE / HTTP/1.1\r\nHost: a.test", 405],
])("%j gets our page", async (head, status) => {
  const answer = await exchange(port, `${head}\r\nConnection: close\r\n\r\n`);
  expect(statuses(answer)).toEqual([status]);
  expect(answer).toContain("<!doctype html>");
});
