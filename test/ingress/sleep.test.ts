import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Event } from "../../src/orchestration/api/events.ts";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { connectRaw } from "../support/raw-client.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

let it: Rig;
let port: number;

/** `/cgi-bin/slow` answers after five seconds. */
const serve = `mkdir -p /www/cgi-bin && echo "$V" > /www/index.html
printf '#!/bin/sh\\nsleep 5\\nprintf "Content-Type: text/plain\\\\n\\\\nslow"\\n' > /www/cgi-bin/slow
chmod +x /www/cgi-bin/slow
exec httpd -f -p 8080 -h /www`;

const app = (spec: Spec = {}): Manifest => ({
  kind: "app",
  scope: "nap",
  name: "web",
  spec: {
    image: "berth-fixture:1",
    command: ["sh", "-c", serve],
    env: { V: "one" },
    ports: ["8080"],
    host: "nap.test",
    wake: true,
    idle_after: "0",
    stop_grace: "1s",
    rollout: { min_ready: "0s", drain: "2s" },
    // A request finds the app listening: a container that runs is not there yet.
    probes: { readiness: { tcp_socket: { port: 8080 }, period: "100ms" } },
    ...spec,
  },
});

beforeAll(async () => {
  port = await freePort();
  it = await rig({ flags: ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", ""] });
});

afterAll(async () => {
  await it.close();
});

async function get(path = "/", host = "nap.test"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { host }, keepalive: false });
  return `${response.status} ${(await response.text()).trim().slice(0, 60)}`;
}

async function turns(): Promise<string[]> {
  const { body } = await it.call("GET", "/events?scope=nap&name=web&limit=1000");
  const { events } = body.data as unknown as { events: Event[] };
  return events.flatMap(({ action, detail }) =>
    action === "sleep" || action === "wake" ? [`${action}: ${String(detail?.why)}`] : [],
  );
}

async function awake(spec: Spec = {}): Promise<void> {
  expect((await it.apply(app(spec))).status).toBe(200);
  await waitFor("the app to be served", async () => (await get().catch(String)).startsWith("200"));
}

/** Put to sleep by hand, and gone. */
async function asleep(): Promise<void> {
  await it.cli(["scale", "nap/web=0"]);
  await waitFor("no replica to be left", async () => (await it.pods("nap", "web")).length === 0);
}

test("a request to an app that sleeps is held, served, and starts it once, however many come", async () => {
  await awake();
  await asleep();
  const before = (await turns()).length;
  const answers = await Promise.all(Array.from({ length: 50 }, () => get()));
  expect(new Set(answers)).toEqual(new Set(["200 one"]));
  expect((await turns()).slice(before)).toEqual(["wake: a request to nap.test"]);
  expect(await it.pods("nap", "web")).toHaveLength(1);
});

test("an operator sees an app that sleeps, and no fault", async () => {
  await awake();
  await asleep();
  const [status, list, why, ingress] = await Promise.all(
    [["status"], ["get", "apps"], ["why", "nap/web"], ["ingress", "ls"]].map((words) => it.cli(words)),
  );
  expect(status).toMatchObject({ exitCode: 0 });
  expect(status?.stdout).toMatch(/^apps +1 of 1 ready, 1 of them asleep$/m);
  expect(list?.stdout).toMatch(/^nap\/web +asleep +0\/1 /m);
  expect(why?.stdout).toStartWith("deployment/nap/web  asleep\n  it was not in use; the first request");
  expect(ingress?.stdout).toMatch(/^nap\/web +http:\/\/nap\.test:\d+ +nap\/web +asleep +\d+ /m);
  expect((await it.cli(["stop", "nap/web"])).stderr).toContain("nap/web is asleep, so nothing of it runs");
  expect((await it.cli(["start", "nap/web"])).stdout).toBe("waking deployment/nap/web\n");
  await it.ready("deployment", "nap", "web");
});

test("an app is put to sleep once nobody uses it, and not while a request is under way", async () => {
  await awake({ idle_after: "3s" });
  const before = (await turns()).length;
  // Longer than it may go unused; nothing else comes meanwhile.
  expect(await get("/cgi-bin/slow")).toBe("200 slow");
  expect((await turns()).slice(before).filter((text) => text.startsWith("wake"))).toEqual([]);
  await waitFor("no replica to be left", async () => (await it.pods("nap", "web")).length === 0);
  expect((await turns()).at(-1)).toBe("sleep: 3s without requests");
});

test("sleep outlives the server and the proxy, and a request while the server is away gets 503", async () => {
  await awake({ hold: { for: "1s" } });
  await asleep();
  await it.stop("SIGKILL");
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { host: "nap.test" }, keepalive: false });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  process.kill(Number((await Bun.file(`${it.root}/run/haproxy.pid`).text()).trim()), "SIGKILL");
  await it.start();
  expect((await it.status("deployment", "nap", "web")).phase).toBe("asleep");
  await waitFor("the app to be woken", async () => (await get().catch(String)) === "200 one");
});

test("no request fails while an app falls asleep and is woken again and again", async () => {
  await awake({ idle_after: "500ms" });
  const before = (await turns()).length;
  const bad: string[] = [];
  await waitFor("two sleeps", async () => {
    // Around the moment at which it is put to sleep.
    await Bun.sleep(400 + Math.random() * 800);
    const answer = await get().catch((error: unknown) => `failed: ${error}`);
    if (answer !== "200 one") bad.push(answer);
    return (await turns()).slice(before).filter((text) => text.startsWith("sleep")).length >= 2;
  });
  expect(bad).toEqual([]);
});

test("a connection to a TCP port wakes the app as well, waits for it, and keeps it awake", async () => {
  const raw = await freePort();
  const ingress = {
    kind: "ingress",
    scope: "nap",
    name: "raw",
    spec: { service: "web", tcp: { port: raw, address: "127.0.0.1" } },
  };
  await awake({ idle_after: "2s" });
  expect((await it.apply(ingress)).status).toBe(200);
  const ask = async () => {
    const client = await connectRaw({ hostname: "127.0.0.1", port: raw });
    await client.send("GET /cgi-bin/slow HTTP/1.0\r\n\r\n");
    return client.all();
  };
  await waitFor("the port to be served", async () => (await ask().catch(String)).includes("slow"));
  await asleep();
  const before = (await turns()).length;
  expect(await ask()).toEndWith("slow");
  // The answer took longer than it may go unused.
  expect((await turns()).slice(before)).toEqual([`wake: a request to :${raw}`]);
  await it.call("POST", "/delete", { kind: "ingress", scope: "nap", name: "raw" });
});
