import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { waitFor } from "../../support/wait.ts";
import { type PeopleWorld, peopleWorld } from "../../support/people-world.ts";

let it: PeopleWorld;
let instance: string;
let ana: string;

const email = "ana@example.com";

beforeAll(async () => {
  it = await peopleWorld();
  instance = await it.enable();
  ana = await it.account(email);
});

afterEach(async () => {
  it.peer.ip = "127.0.0.1";
  // Rates forget.
  it.clock.moveTo(it.clock.steady() + 600_000);
  const { people } = (await it.manage("GET /people")).data as { people: { email: string }[] };
  for (const one of people) await it.manage(`DELETE /people/${one.email}`);
});

afterAll(() => it.stop());

const role = async (who: string, body: unknown) => {
  const answer = await it.manage(`PUT /people/${who}`, body);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data;
};
const who = { scopes: ["read"], person: email };
const stateOf = (page: string) =>
  new URL(new URL(page).searchParams.get("redirect_uri") ?? "").searchParams.get("state");

test("a person with a role signs in through the hosted page, and the cookie stands for the role", async () => {
  await role(email, { role: "operator", apps: ["shop"] });
  const browser = it.browser();
  const back = await browser.signIn(email, "/apps/shop/web?tab=logs");
  expect([back.status, back.headers.get("location")]).toEqual([303, "/apps/shop/web?tab=logs"]);
  const lines = back.headers.getSetCookie();
  expect(lines.map((line) => line.replace(/=[\w.-]{20,};/, "=…;"))).toEqual([
    "berth_sign_in_test=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    "berth_session_test=…; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
  ]);
  expect((await browser.ask("GET /whoami")).data).toMatchObject({
    ...{ name: email, person: email, apps: ["shop"] },
    scopes: ["read", "actions", "host:read"],
  });
  expect((await it.manage("GET /people")).data).toMatchObject({
    sign_in: { instance, title: "berth", addresses: ["http://127.0.0.1:8687"] },
    people: [{ email, role: "operator", sessions: [{ ip: "127.0.0.1" }], last_sign_in_at: expect.any(String) }],
  });
});

test("nobody signs in this way until it is turned on", async () => {
  await it.manage("DELETE /people-sign-in");
  expect((await it.ask("GET /ui/api/sign-in-ways")).data).toEqual({});
  const closed = await it.browser().get("/ui/api/sign-in");
  expect([closed.status, closed.text]).toEqual([404, expect.stringContaining("berth people enable")]);
  // The instance that was made before is found again.
  expect(await it.enable()).toBe(instance);
  expect((await it.ask("GET /ui/api/sign-in-ways")).data).toEqual({ people: { title: "berth" } });
});

test("a person without a role gets nothing but a page that says whom to ask", async () => {
  const browser = it.browser();
  const back = await browser.signIn(email);
  expect(back.status).toBe(403);
  expect(back.text).toContain("Ask an administrator of this server");
  expect(back.text).toContain(`berth people set ${email} viewer`);
  expect(back.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect([...browser.cookies.keys()]).toEqual([]);
  expect((await browser.ask("GET /whoami")).status).toBe(401);
  const [entry] = it.store.audit.list({ limit: 1, actor: `person:${email}` });
  expect(entry).toMatchObject({ action: "GET /ui/api/signed-in", outcome: "status 403", ip: "127.0.0.1" });
});

test("an address that is not proven has no role", async () => {
  await role("eve@example.com", { role: "admin" });
  const body = { email: "eve@example.com", password: "correct horse battery", email_verified: false };
  await it.manage(`POST /identity/users?instance=${instance}`, body);
  const back = await it.browser().signIn("eve@example.com");
  expect([back.status, back.text]).toEqual([403, expect.stringContaining("The address is not proven")]);
});

test("a new account with the address of a former one is a stranger, until the role is given again", async () => {
  await role(email, { role: "admin" });
  await it.browser().signIn(email);
  await it.manage(`DELETE /identity/users/${ana}?instance=${instance}`);
  ana = await it.account(email);
  expect((await it.browser().signIn(email)).status).toBe(403);
  await role(email, { role: "admin" });
  expect((await it.browser().signIn(email)).status).toBe(303);
});

test("a state is good once, in the browser that began, for ten minutes", async () => {
  await role(email, { role: "viewer" });
  const browser = it.browser();
  const used = await browser.password(await browser.start(), email);
  expect((await browser.get(used)).status).toBe(303);
  expect((await browser.get(used)).status).toBe(400);

  const other = it.browser();
  const stolen = await browser.password(await browser.start(), email);
  expect((await other.get(stolen)).status).toBe(400);
  // Trying it elsewhere has spent it.
  expect((await browser.get(stolen)).status).toBe(400);

  const twoBegun = it.browser();
  await twoBegun.start();
  expect((await twoBegun.get(await browser.password(await browser.start(), email))).status).toBe(400);

  const slow = await browser.password(await browser.start(), email);
  it.clock.moveTo(it.clock.steady() + 10 * 60_000);
  const late = await browser.get(slow);
  expect([late.status, late.text]).toEqual([400, expect.stringContaining("This sign-in is over")]);
});

test("a code is good once, and one of another sign-in is not taken", async () => {
  await role(email, { role: "viewer" });
  const browser = it.browser();
  const first = new URL(await browser.password(await browser.start(), email), "http://x.test");
  expect((await browser.get(`${first.pathname}${first.search}`)).status).toBe(303);
  const state = stateOf(await browser.start());
  const again = `/ui/api/signed-in?${new URLSearchParams({ state: state ?? "", code: first.searchParams.get("code") ?? "" })}`;
  expect((await browser.get(again)).status).toBe(400);
});

test("after the sign-in nobody is sent to another host", async () => {
  await role(email, { role: "viewer" });
  expect((await it.browser().signIn(email, "//evil.example/")).headers.get("location")).toBe("/");
});

test("a host that the instance does not list gets no sign-in page: there is no way to lead a code elsewhere", async () => {
  const started = await it.ask("GET /ui/api/sign-in", { headers: { Host: "evil.example" } });
  const page = await it.identity.browser().open(started.headers.get("location") ?? "");
  expect([page.status, page.html]).toEqual([400, expect.stringContaining("This sign-in link is not valid")]);
});

test("a page of another site cannot begin a sign-in", async () => {
  const headers = { "Sec-Fetch-Site": "cross-site" };
  expect((await it.browser().get("/ui/api/sign-in", headers)).status).toBe(403);
});

test("beyond this machine both ends of the way need TLS", async () => {
  await role(email, { role: "viewer" });
  const browser = it.browser();
  const back = await browser.password(await browser.start(), email);
  it.peer.ip = "192.0.2.1";
  for (const path of [back, "/ui/api/sign-in"]) {
    const refused = await browser.get(path);
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("over plain HTTP from another machine"),
    ]);
  }
});

test("over TLS the way works on the listed address, with cookies for TLS alone", async () => {
  await it.enable({ instance, urls: ["https://berth.example.com"] });
  it.peer.ip = "127.0.0.1";
  const proxied = { Host: "berth.example.com", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https" };
  const started = await it.browser().get("/ui/api/sign-in", proxied);
  expect(started.headers.getSetCookie()[0]).toMatch(/^__Host-berth_sign_in_test=.*; Secure$/);
  const back = new URL(started.headers.get("location") ?? "").searchParams.get("redirect_uri");
  expect(back).toStartWith("https://berth.example.com/ui/api/signed-in?state=");
});

test("a viewer cannot act, and a limited person sees no other app", async () => {
  await role(email, { role: "viewer", apps: ["shop"] });
  const browser = it.browser();
  await browser.signIn(email);
  expect((await browser.ask("POST /apps/shop/web/restart")).status).toBe(403);
  expect((await browser.ask("GET /people")).status).toBe(403);
  expect((await browser.ask("GET /apps/blog/web")).status).toBe(404);
});

test("another role, and none, end the sessions at once, with their streams", async () => {
  await role(email, { role: "admin" });
  const browser = it.browser();
  await browser.signIn(email);
  const stream = await streamOf(browser);
  expect(await role(email, { role: "admin" })).toMatchObject({ sessions_ended: 0 });
  expect((await browser.ask("GET /whoami")).status).toBe(200);
  expect(await role(email, { role: "viewer" })).toMatchObject({ sessions_ended: 1 });
  expect((await browser.ask("GET /whoami")).status).toBe(401);
  await waitFor("the end of the stream", () => stream.ended);
  await browser.signIn(email);
  expect((await browser.ask("GET /whoami")).data).toMatchObject(who);
  expect((await it.manage(`DELETE /people/${email}`)).data).toEqual({ email, sessions_ended: 1 });
  expect((await browser.ask("GET /whoami")).status).toBe(401);
});

/** Resolves once the stream is open. */
async function streamOf(browser: ReturnType<PeopleWorld["browser"]>): Promise<{ ended: boolean }> {
  const state = { ended: false };
  const Cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const request = new Request("http://plane.test/api/pat/v1/stream?topics=state", { headers: { Cookie } });
  const response = await it.app.fetch(request);
  expect(response.status).toBe(200);
  void response.text().then(() => {
    state.ended = true;
  });
  return state;
}

const banned = () => it.manage(`POST /identity/users/${ana}/ban?instance=${instance}`);
const deleted = () => it.manage(`DELETE /identity/users/${ana}?instance=${instance}`);
const revoked = async () => {
  const { data } = await it.manage(`GET /identity/sessions?instance=${instance}&user=${ana}`);
  const [session] = data.sessions as { session_id: string }[];
  return it.manage(`POST /identity/sessions/${session?.session_id}/revoke?instance=${instance}`);
};

test.each([
  ["banned", banned],
  ["deleted", deleted],
  ["signed out at the identity service", revoked],
])("a person who is %s is refused at once, and streams end within seconds", async (_, change) => {
  await role(email, { role: "admin" });
  const browser = it.browser();
  await browser.signIn(email);
  const stop = new AbortController();
  const running = it.running.run(stop.signal);
  const stream = await streamOf(browser);
  expect((await change()).status).toBe(200);
  expect((await browser.ask("GET /whoami")).status).toBe(401);
  it.clock.moveTo(it.clock.steady() + 5_000);
  await waitFor("the end of the stream", () => stream.ended);
  expect((await it.manage("GET /people")).data).toMatchObject({ people: [{ sessions: [] }] });
  stop.abort();
  await running;
  await it.manage(`DELETE /identity/users/${ana}?instance=${instance}`);
  ana = await it.account(email);
});

test("the token behind a session is listed and can be revoked", async () => {
  await role(email, { role: "admin" });
  const browser = it.browser();
  await browser.signIn(email);
  const [pat] = (await it.manage("GET /pats")).data.pats as { id: string; name: string; created_by: string }[];
  expect(pat).toMatchObject({ name: email, created_by: `person:${email}` });
  await it.manage(`DELETE /pats/${pat?.id}`);
  expect((await browser.ask("GET /whoami")).status).toBe(401);
  expect((await it.manage("GET /people")).data).toMatchObject({ people: [{ sessions: [] }] });
});

test("signing out ends the session at the identity service too: the next one at this browser is nobody", async () => {
  await role(email, { role: "viewer" });
  const browser = it.browser();
  await browser.signIn(email);
  expect((await browser.ask("DELETE /ui/api/session")).status).toBe(200);
  const { data } = await it.manage(`GET /identity/sessions?instance=${instance}`);
  expect((data.sessions as unknown[]).slice(0, 1)).toMatchObject([{ active: false, revoke_reason: "sign_out" }]);
});

test("another instance, and none, end all sessions of people", async () => {
  await role(email, { role: "admin" });
  const browser = it.browser();
  await browser.signIn(email);
  expect((await it.manage("DELETE /people-sign-in")).data).toEqual({ sessions_ended: 1 });
  expect((await browser.ask("GET /whoami")).status).toBe(401);
  await it.enable();
});

test("what a person does is on record with the address", async () => {
  await role(email, { role: "admin" });
  const browser = it.browser();
  await browser.signIn(email);
  await browser.ask("DELETE /people/nobody@example.com");
  const entries = it.store.audit.list({ limit: 2, actor: `person:${email}` });
  expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
    ["DELETE /api/pat/v1/people/:person", "status 404"],
    ["GET /ui/api/signed-in", "ok"],
  ]);
});

test("guesses of states are counted by client, and who guesses nothing still signs in", async () => {
  await role(email, { role: "admin" });
  const [browser, beside] = [it.browser(), it.browser()];
  const page = await beside.start();
  for (let count = 0; count < 10; count += 1) {
    expect((await browser.get("/ui/api/signed-in?state=guess&code=x")).status).toBe(400);
  }
  expect((await browser.get("/ui/api/signed-in?state=guess&code=x")).status).toBe(429);
  expect((await beside.get(await beside.password(page, email))).status).toBe(303);
  expect((await it.browser().signIn(email)).status).toBe(303);
});

test("200 people of one office begin to sign in before the first of them is back", async () => {
  await role(email, { role: "admin" });
  const first = it.browser();
  const page = await first.start();
  for (let n = 0; n < 200; n++) await it.browser().start();
  expect((await first.get(await first.password(page, email))).status).toBe(303);
});

test.each([
  ["PUT /people/nobody", { role: "admin" }, 400, "is not an email address"],
  ["PUT /people/a@b.example", { role: "root" }, 400, "role"],
  ["PUT /people/a@b.example", { role: "viewer", apps: ["//"] }, 400, "apps[0]"],
  ["DELETE /people/a@b.example", undefined, 404, "berth people list"],
  ["PUT /people-sign-in", { urls: ["http://berth.example.com"] }, 400, "is not an address of the web UI"],
  ["PUT /people-sign-in", { urls: ["https://berth.example.com/x"] }, 400, "is not an address of the web UI"],
  ["PUT /people-sign-in", { instance: "inst_none" }, 404, "inst_none"],
])("%s with %j is a %i", async (request, body, status, error) => {
  const answer = await it.manage(request, body);
  expect([answer.status, answer.error]).toEqual([status, expect.stringContaining(error)]);
});

test("an instance that sends tokens in addresses is refused", async () => {
  const shop = await it.identity.tenant();
  const answer = await it.manage("PUT /people-sign-in", { instance: shop.id });
  expect([answer.status, answer.error]).toEqual([409, expect.stringContaining("delivery=code")]);
});
