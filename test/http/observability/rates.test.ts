import { afterEach, beforeEach, expect, test } from "bun:test";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;

beforeEach(() => {
  it = planeWorld();
});

afterEach(() => it.close());

test("three actions at once, then ten a minute, told with Retry-After; others go on", async () => {
  const token = await it.token(["admin"]);
  const other = await it.token(["admin"]);
  const act = async (value: string) => it.ask("DELETE /pats/zzzzzz", { token: value });
  for (let count = 0; count < 3; count += 1) expect((await act(token)).status).toBe(404);
  const refused = await act(token);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "6"]);
  expect(refused.error).toBe("too many actions: 3 at once and 10 a minute are allowed, try again later");
  expect((await act(other)).status).toBe(404);
  expect((await it.ask("GET /whoami", { token })).status).toBe(200);
  it.clock.moveTo(it.clock.steady() + 6_000);
  expect((await act(token)).status).toBe(404);
});

test("a person who clicks may do more than a program", async () => {
  const token = await it.token(["admin"]);
  it.peer.ip = "127.0.0.1";
  const own = { "X-Berth-UI": "1" };
  const signedIn = await it.ask("POST /ui/api/session", { body: { token }, headers: own });
  const headers = { ...own, Cookie: (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
  for (let count = 0; count < 20; count += 1) {
    expect((await it.ask("DELETE /pats/zzzzzz", { headers })).status).toBe(404);
  }
  expect((await it.ask("DELETE /pats/zzzzzz", { headers })).status).toBe(429);
});

test("plans do not take what a token has for its actions, and have a limit of their own", async () => {
  const token = await it.token(["actions", "admin"]);
  const manifest = { kind: "deployment", scope: "shop", name: "web", spec: { image: "web:2" } };
  const dry = async (flag: string) => it.ask(`POST /apply?dry_run=${flag}`, { token, body: manifest });
  for (let count = 0; count < 10; count += 1) {
    expect((await it.ask("POST /backups/restores/plan", { token, body: {} })).status).toBe(200);
    expect((await dry("true")).status).toBe(200);
  }
  const refused = await dry("1");
  expect([refused.status, refused.error]).toEqual([429, expect.stringContaining("too many plans: 20 at once")]);
  // What is no dry run is an action, also where it only looks like one.
  expect((await dry("true&dry_run=false")).status).toBe(400);
  expect((await dry("yes")).status).toBe(400);
  expect((await dry("false")).status).toBe(200);
  expect((await dry("0")).error).toContain("too many actions");
  // The address of a request begins with its header Host, which may hold the word too.
  const headers = { Authorization: `Bearer ${token}` };
  const hostile = new Request("http://a&dry_run=true&b=/api/pat/v1/apply", {
    ...{ method: "POST", headers, body: JSON.stringify(manifest) },
  });
  expect(await (await it.app.fetch(hostile)).text()).toContain("too many actions");
});

test("a scope that is missing costs no action", async () => {
  const token = await it.token(["read"]);
  for (let count = 0; count < 5; count += 1) {
    expect((await it.ask("DELETE /pats/zzzzzz", { token })).status).toBe(403);
  }
});

test("a flood of refused requests does not push the audit trail out", async () => {
  const token = await it.token(["read"]);
  for (let count = 0; count < 50; count += 1) {
    expect((await it.ask("DELETE /pats/zzzzzz", { token })).status).toBe(403);
  }
  expect(it.store.audit.list({ limit: 100, actor: `pat:${token.slice(4, 10)}` })).toHaveLength(20);
});

test("reads have a limit as well", async () => {
  const token = await it.token();
  const answers = await Promise.all(Array.from({ length: 301 }, () => it.ask("GET /whoami", { token })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(300);
  expect(answers.at(-1)?.headers.get("retry-after")).toBe("1");
});

test("an IPv6 client is its /64, and a right token still comes in", async () => {
  const token = await it.token();
  for (let count = 0; count < 10; count += 1) {
    it.peer.ip = `2001:db8:1:2::${count}`;
    expect((await it.ask("GET /whoami")).status).toBe(401);
  }
  const status = async (ip: string) => {
    it.peer.ip = ip;
    return (await it.ask("GET /whoami")).status;
  };
  expect(await status("2001:db8:1:2:ffff::1")).toBe(429);
  expect(await status("2001:db8:1:3::1")).toBe(401);
  it.peer.ip = "2001:db8:1:2::1";
  expect((await it.ask("GET /whoami", { token })).status).toBe(200);
});
