import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
let https: number;

beforeAll(async () => {
  https = await freePort();
  const doors = ["--ingress-http-addr", "", "--ingress-https-addr", `127.0.0.1:${https}`];
  berth = await rig({ flags: [...doors, "--observability-addr", "127.0.0.1:0"] });
});
afterAll(() => berth?.close());

test("an ingress to @observability leads to the web UI, with a session that is for TLS alone", async () => {
  const host = "dashboard.test";
  const spec = { host, service: "@observability", tls: { provider: "internal" } };
  const applied = await berth.apply({ kind: "ingress", scope: "platform", name: "dashboard", spec });
  expect([applied.status, applied.body.error]).toEqual([200, undefined]);
  const ca = (await berth.cli(["ca"])).stdout;
  const token = (await berth.cli(["pat", "create"])).stdout.split("\n")[0] ?? "";
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`https://127.0.0.1:${https}${path}`, {
      ...init,
      headers: { ...init.headers, Host: `${host}:${https}` },
      keepalive: false,
      tls: { ca, serverName: host, checkServerIdentity: () => undefined },
    });
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
