import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";
import { webBrowser } from "../support/web-browser.ts";

setDefaultTimeout(180_000);

const restarts = Number(process.env.BERTH_TEST_ROUNDS ?? 6);
const tabs = 10;

/** The executable, restarted under the tabs of a browser that keep one refresh token in one place. */
let berth: Rig;
let base: string;
let shop: { instance_id: string; publishable_key: string; sign_in_url: string };
const callback = "http://localhost:3000/callback";

async function begin(isBehind: boolean): Promise<void> {
  const [port, http] = [await freePort(), await freePort()];
  base = `http://localhost:${isBehind ? http : port}`;
  const identity = ["--identity-addr", `127.0.0.1:${port}`, "--identity-base-url", base];
  const ingress = isBehind ? ["--ingress-http-addr", `127.0.0.1:${http}`] : [];
  berth = await rig({ flags: [...identity, ...ingress] });
  if (isBehind) {
    const spec = { host: "localhost", service: "@identity" };
    expect((await berth.apply({ kind: "ingress", scope: "shop", name: "id", spec })).status).toBe(200);
    // The service answers in JSON that there is nothing, HAProxy with a page.
    const isService = ({ headers }: Response) => headers.get("content-type")?.includes("json") === true;
    await waitFor("HAProxy to lead there", () => fetch(`${base}/nothing`).then(isService, () => false));
  }
  shop = await client("quickstart", "--redirect", callback);
  const account = ["--email", "ana@shop.test", "--password", "correct horse"];
  await client("user", "create", "--instance", shop.instance_id, ...account);
}
afterEach(async () => {
  await berth.stop();
  // HAProxy outlives the server.
  const pid = join(berth.root, "run/haproxy.pid");
  if (existsSync(pid)) process.kill(Number(readFileSync(pid, "utf8")), "SIGTERM");
  await berth.close();
});

async function client<T>(...args: string[]): Promise<T> {
  const run = await berth.cli(["identity", ...args, "-o", "json"]);
  if (run.exitCode !== 0) throw new Error(`berth identity ${args.join(" ")}: ${run.stderr}${run.stdout}`);
  return (JSON.parse(run.stdout) as { data: T }).data;
}

const sessions = (what: string, body: object) =>
  fetch(`${base}/api/v1/sessions/${what}`, {
    method: "POST",
    // A connection of its own: one that is kept may always end at the moment of the next request.
    keepalive: false,
    headers: { "X-Service-Publishable-Key": shop.publishable_key, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

/** A refresh token of a session that a person has begun with a password. */
async function signedIn(): Promise<string> {
  const browser = webBrowser({
    service: (request) => fetch(request),
    isService: (host) => host === new URL(base).host,
    isApp: (host) => host === new URL(callback).host,
    headers: { "User-Agent": "test browser", Origin: base },
  });
  const page = await browser.open(shop.sign_in_url);
  const end = await browser.submit(page, "/sign-in", { email: "ana@shop.test", password: "correct horse" });
  const token = new URL(end.url).searchParams.get("token") ?? "";
  return ((await (await sessions("exchange", { token })).json()) as { refresh_token: string }).refresh_token;
}

/** An upgrade ends the server with SIGTERM, a crash with SIGKILL. */
const ways: [where: "alone" | "behind HAProxy", ends: NodeJS.Signals[]][] = [
  ["alone", ["SIGTERM", "SIGKILL"]],
  ["behind HAProxy", ["SIGTERM"]],
  ["behind HAProxy", ["SIGKILL"]],
];

describe("ten tabs that refresh while the server is restarted again and again", () => {
  test.each(ways)("keep their session: %s, %p", async (where, ends) => {
    await begin(where === "behind HAProxy");
    let kept = await signedIn();
    let isOver = false;
    const seen = { done: 0, unanswered: [] as string[], refused: [] as string[] };
    const latency = () => Bun.sleep(Math.random() * 200);
    const tab = async () => {
      while (!isOver) {
        await Bun.sleep(Math.random() * 1_000);
        const mine = kept;
        await latency();
        const answer = await sessions("refresh", { refresh_token: mine }).catch(String);
        const body: unknown = typeof answer === "string" ? undefined : await answer.json().catch(() => undefined);
        // A client tries again what was never answered.
        if (typeof answer === "string" || body === undefined) {
          seen.unanswered.push(typeof answer === "string" ? answer : `status ${answer.status}`);
        } else if (answer.status === 200) {
          await latency();
          kept = (body as { refresh_token: string }).refresh_token;
          seen.done++;
        } else seen.refused.push(`${answer.status} ${JSON.stringify(body)}`);
      }
    };
    const all = Array.from({ length: tabs }, tab);
    for (let turn = 0; turn < restarts; turn++) {
      const before = seen.done;
      await berth.stop(ends[turn % ends.length]);
      await berth.start();
      await waitFor("the tabs to refresh", () => seen.done > before + tabs);
    }
    isOver = true;
    await Promise.all(all);
    expect(seen.refused).toEqual([]);
    // Requests wait in HAProxy until the next server listens; a crash cuts off those that are under way.
    if (where === "behind HAProxy" && !ends.includes("SIGKILL")) expect(seen.unanswered).toEqual([]);
    expect((await sessions("refresh", { refresh_token: kept })).status).toBe(200);
  });
});
