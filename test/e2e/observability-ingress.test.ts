import { existsSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { freePort } from "../support/ports.ts";
import { longRoot, type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
let https: number;
let plane: number;
let ca: string | undefined;

beforeAll(async () => {
  https = await freePort();
  plane = await freePort();
  const doors = ["--ingress-http-addr", "", "--ingress-https-addr", `127.0.0.1:${https}`];
  // Neither the server nor HAProxy can have a socket below such a root.
  berth = await rig({ root: longRoot(), flags: [...doors, "--observability-addr", `127.0.0.1:${plane}`] });
});
afterAll(() => berth?.close());

const host = "dashboard.test";

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  ca ??= (await berth.cli(["ca"])).stdout;
  return fetch(`https://127.0.0.1:${https}${path}`, {
    ...init,
    headers: { ...init.headers, Host: `${host}:${https}` },
    keepalive: false,
    tls: { ca, serverName: host, checkServerIdentity: () => undefined },
  });
}

test("an ingress to @observability leads to the web UI, with a session that is for TLS alone", async () => {
  const spec = { host, service: "@observability", tls: { provider: "internal" } };
  const applied = await berth.apply({ kind: "ingress", scope: "platform", name: "dashboard", spec });
  expect([applied.status, applied.body.error]).toEqual([200, undefined]);
  const token = (await berth.cli(["pat", "create"])).stdout.split("\n")[0] ?? "";
  const page = await waitFor("the web UI behind the ingress", async () => {
    const answer = await ask("/");
    if (answer.status !== 200) throw new Error(`status ${answer.status}`);
    return answer;
  });
  expect(page.headers.get("content-security-policy")).toContain("default-src");
  const headers = { "X-Berth-UI": "1", Origin: `https://${host}:${https}` };
  const signedIn = await ask("/ui/api/session", { method: "POST", headers, body: JSON.stringify({ token }) });
  expect([signedIn.status, await signedIn.json()]).toEqual([200, expect.objectContaining({ status: "ok" })]);
  const cookie = signedIn.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^__Host-berth_session_.*; Secure$/);
  const [Cookie = ""] = cookie.split(";");
  expect((await ask("/api/pat/v1/whoami", { headers: { Cookie } })).status).toBe(200);
  expect((await ask("/api/pat/v1/whoami")).status).toBe(401);
});

test("a method that nobody knows is answered", async () => {
  const from = ["--resolve", `${host}:${https}:127.0.0.1`, `https://${host}:${https}/`];
  const status = async (method: string) => {
    const child = Bun.spawn(["curl", "-sk", "-X", method, "-o", "/dev/null", "-w", "%{http_code}", ...from]);
    return new Response(child.stdout).text();
  };
  expect([await status("FOO"), await status("get"), await status("GET")]).toEqual(["501", "501", "200"]);
});

test("a request that comes by the ingress waits while the server restarts, and none is refused", async () => {
  const answers: (number | string)[] = [];
  let isOver = false;
  const asking = Array.from({ length: 4 }, async () => {
    while (!isOver) answers.push(await ask("/").then(({ status }) => status, String));
  });
  for (let restart = 0; restart < 3; restart++) {
    await berth.stop();
    await berth.start();
  }
  isOver = true;
  await Promise.all(asking);
  expect(answers.length).toBeGreaterThanOrEqual(4);
  expect(answers.filter((answer) => answer !== 200)).toEqual([]);
});

test("another program of this machine that claims to speak for a client is not believed", async () => {
  const headers = { "X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https", "X-Berth-UI": "1" };
  const answer = await fetch(`http://127.0.0.1:${plane}/ui/api/session`, { method: "POST", headers, body: "{}" });
  expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("TLS")]);
});

test("the sockets of a long root are in a short folder of their own, which a client finds and a stop clears", async () => {
  const { run, sockets, socket } = layoutOf(berth.root);
  expect([sockets !== run, statSync(sockets).mode & 0o777]).toEqual([true, 0o700]);
  expect(readlinkSync(join(run, "berth.sock"))).toBe(socket);
  const { body } = await berth.call("GET", "/system");
  expect(body.data).toMatchObject({ root: berth.root, socket });
  const doctor = await berth.cli(["doctor", "--root", berth.root]);
  expect(doctor.stdout).toMatch(/ok +docker +/);
  await berth.stop();
  // HAProxy goes on, and the next server finds it there.
  expect([existsSync(socket), existsSync(sockets)]).toEqual([false, true]);
  await berth.start();
  await waitFor("the next server to serve", async () => {
    const { stdout } = await berth.cli(["ingress", "status"]);
    if (!stdout.includes("running")) throw new Error(stdout);
    return true;
  });
});
