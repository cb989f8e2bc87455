import { afterEach, beforeEach, expect, test } from "bun:test";
import { SignJWT } from "jose";
import { testKey } from "../../support/store-root.ts";
import { waitFor } from "../../support/wait.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;

beforeEach(() => {
  it = planeWorld();
  it.peer.ip = "127.0.0.1";
});

afterEach(() => it.close());

const own = { "X-Berth-UI": "1", Host: "plane.test" };
const idOf = (token: string) => token.slice(4, 10);
const cookieOf = (headers: Headers) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";

async function signedIn(body: unknown): Promise<Record<string, string>> {
  const answer = await it.ask("POST /ui/api/session", { body, headers: own });
  if (answer.status !== 200) throw new Error(answer.text);
  return { ...own, Cookie: cookieOf(answer.headers) };
}

const link = async (body: unknown = {}) => String((await it.manage("POST /ui/links", body)).data.code);

test("a pasted token signs in: the cookie stands for it and holds nothing of it", async () => {
  const token = await it.token(["read"], { name: "laptop", apps: ["shop"] });
  const answer = await it.ask("POST /ui/api/session", { body: { token }, headers: own });
  expect(answer.status).toBe(200);
  expect(answer.data).toEqual({
    id: idOf(token),
    name: "laptop",
    scopes: ["read"],
    apps: ["shop"],
    expires_at: "2026-01-01T12:00:00.000Z",
  });
  const cookie = answer.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^berth_session_test=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
  expect(cookie).not.toContain(token.slice(10));
  const headers = { Cookie: cookieOf(answer.headers) };
  expect((await it.ask("GET /whoami", { headers })).data).toMatchObject({ id: idOf(token), apps: ["shop"] });
  expect((await it.ask("GET /ui/api/session", { headers })).data).toEqual(answer.data);
});

test("a sign-in while the clock is a year ahead deletes no session of others", async () => {
  const headers = await signedIn({ token: await it.token() });
  it.clock.jump(366 * 24 * 3_600_000);
  expect((await it.ask("GET /ui/api/session", { headers })).status).toBe(401);
  await signedIn({ token: await it.token() });
  it.clock.jump(-366 * 24 * 3_600_000);
  expect((await it.ask("GET /ui/api/session", { headers })).status).toBe(200);
});

test("a session does no more than its token", async () => {
  const headers = await signedIn({ token: await it.token(["read"]) });
  const answer = await it.ask("GET /pats", { headers });
  expect([answer.status, answer.error]).toEqual([403, "insufficient scope: requires admin"]);
});

test("a session dies with its token, and with its time", async () => {
  const token = await it.token();
  const headers = await signedIn({ token });
  await it.manage(`DELETE /pats/${idOf(token)}`);
  expect((await it.ask("GET /whoami", { headers })).status).toBe(401);
  const other = await signedIn({ token: await it.token() });
  it.clock.moveTo(it.clock.steady() + 12 * 3_600_000);
  expect((await it.ask("GET /ui/api/session", { headers: other })).status).toBe(401);
});

test("signing out ends the session for good, and leaves a pasted token alone", async () => {
  const token = await it.token();
  const headers = await signedIn({ token });
  const out = await it.ask("DELETE /ui/api/session", { headers });
  expect([out.status, out.data]).toEqual([200, { signed_out: true }]);
  expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
  expect((await it.ask("GET /whoami", { headers })).status).toBe(401);
  expect((await it.ask("GET /whoami", { token })).status).toBe(200);
});

test("signing out cuts the streams of the session, and no others of its token", async () => {
  const token = await it.token();
  const { Cookie = "" } = await signedIn({ token });
  const stream = async (headers: Record<string, string>) => {
    const response = await it.app.fetch(new Request("http://plane.test/api/pat/v1/stream?topics=state", { headers }));
    const state = { ended: false };
    void response.text().then(() => {
      state.ended = true;
    });
    return state;
  };
  const ofBrowser = await stream({ Cookie });
  const ofProgram = await stream({ Authorization: `Bearer ${token}` });
  await it.ask("DELETE /ui/api/session", { headers: { ...own, Cookie } });
  await waitFor("the end of the stream", () => ofBrowser.ended);
  expect(ofProgram.ended).toBe(false);
  await it.manage(`DELETE /pats/${idOf(token)}`);
  await waitFor("the end of the other", () => ofProgram.ended);
});

test("a one-time link signs in once, with all scopes unless it says less", async () => {
  const code = await link();
  const headers = await signedIn({ link: code });
  const session = await it.ask("GET /ui/api/session", { headers });
  expect(session.data).toMatchObject({
    name: "web UI of operator",
    scopes: ["read", "actions", "host:read", "config:reveal", "exec", "admin"],
  });
  const again = await it.ask("POST /ui/api/session", { body: { link: code }, headers: own });
  expect([again.status, again.error]).toEqual([401, expect.stringContaining("this link was used already")]);
  expect(
    (await it.ask("GET /ui/api/session", { headers: await signedIn({ link: await link({ scopes: ["read"] }) }) })).data,
  ).toMatchObject({ scopes: ["read"] });
});

test("who signed in and out is on record, with the address", async () => {
  const token = await it.token();
  const headers = await signedIn({ token });
  await it.ask("DELETE /ui/api/session", { headers });
  await it.ask("DELETE /ui/api/session", { headers });
  const entries = it.store.audit.list({ limit: 10, actor: `pat:${idOf(token)}` });
  expect(entries.map(({ action, ip }) => [action, ip])).toEqual([
    ["DELETE /ui/api/session", "127.0.0.1"],
    ["POST /ui/api/session", "127.0.0.1"],
  ]);
});

test("a link is good for a minute", async () => {
  const code = await link();
  it.clock.moveTo(it.clock.steady() + 60_000);
  expect((await it.ask("POST /ui/api/session", { body: { link: code }, headers: own })).status).toBe(401);
});

test("the token behind a link is on the list, and ends when its browser signs out", async () => {
  const headers = await signedIn({ link: await link() });
  const [pat] = (await it.manage("GET /pats")).data.pats as { id: string; name: string }[];
  expect(pat?.name).toBe("web UI of operator");
  await it.ask("DELETE /ui/api/session", { headers });
  expect((await it.manage("GET /pats")).data).toEqual({ pats: [] });
});

test("links that wait are bounded", async () => {
  for (let count = 0; count < 100; count += 1) await link();
  expect(await it.manage("POST /ui/links", {})).toMatchObject({
    status: 409,
    error: expect.stringContaining("100 links"),
  });
});

test("from another machine a browser may not sign in without TLS, and its cookie opens nothing", async () => {
  const token = await it.token();
  const headers = await signedIn({ token });
  it.peer.ip = "192.0.2.1";
  const refused = await it.ask("POST /ui/api/session", { body: { token }, headers: own });
  expect([refused.status, refused.error]).toEqual([
    403,
    expect.stringContaining("over plain HTTP from another machine"),
  ]);
  expect((await it.ask("GET /whoami", { headers })).status).toBe(401);
  expect((await it.ask("GET /whoami", { token })).status).toBe(200);
});

test("behind a trusted proxy with TLS it may, and the cookie is for TLS alone", async () => {
  const token = await it.token();
  const headers = { ...own, "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https" };
  const answer = await it.ask("POST /ui/api/session", { body: { token }, headers });
  expect(answer.headers.get("set-cookie")).toMatch(/^__Host-berth_session_test=.*; Secure$/);
  const plain = { ...headers, "X-Forwarded-Proto": "http" };
  expect((await it.ask("POST /ui/api/session", { body: { token }, headers: plain })).status).toBe(403);
});

test("a cookie for plain HTTP on this machine, which other ports of it see as well, opens nothing over TLS", async () => {
  const { Cookie = "" } = await signedIn({ token: await it.token() });
  expect((await it.ask("GET /whoami", { headers: { Cookie } })).status).toBe(200);
  const overTls = { ...own, "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https" };
  const headers = { ...overTls, Cookie: `__Host-${Cookie}` };
  expect((await it.ask("GET /whoami", { headers })).status).toBe(401);
});

test("a stranger's word about the proxy counts nothing", async () => {
  it.peer.ip = "192.0.2.1";
  const headers = { ...own, "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https" };
  expect((await it.ask("POST /ui/api/session", { body: { token: await it.token() }, headers })).status).toBe(403);
});

test("pages of other sites reach nothing with the cookie", async () => {
  const admin = await signedIn({ token: await it.token(["admin"]) });
  const { "X-Berth-UI": _, ...bare } = admin;
  for (const headers of [
    bare,
    { ...admin, Origin: "https://evil.example" },
    { ...admin, Origin: "null" },
    { ...admin, Origin: "http://plane.test:81" },
    { ...admin, "Sec-Fetch-Site": "cross-site" },
    { ...admin, "Sec-Fetch-Site": "same-site" },
  ]) {
    expect((await it.ask("DELETE /pats/zzzzzz", { headers })).status).toBe(403);
    expect((await it.ask("DELETE /ui/api/session", { headers })).status).toBe(403);
  }
  expect((await it.ask("GET /whoami", { headers: { ...admin, Origin: "https://evil.example" } })).status).toBe(403);
  const right = { ...admin, Origin: "http://plane.test", "Sec-Fetch-Site": "same-origin" };
  expect((await it.ask("DELETE /pats/zzzzzz", { headers: right })).status).toBe(404);
  const signIn = { body: { token: await it.token() }, headers: { ...own, Origin: "https://evil.example" } };
  expect((await it.ask("POST /ui/api/session", signIn)).status).toBe(403);
});

test("cookies that were altered or signed otherwise open nothing", async () => {
  const headers = await signedIn({ token: await it.token() });
  const [name = "", value = ""] = (headers.Cookie ?? "").split("=");
  const [head = "", body = "", signature = ""] = value.split(".");
  const jti = JSON.parse(Buffer.from(body, "base64url").toString()).jti as string;
  const claims = () => new SignJWT({ jti }).setAudience("web-ui-plain").setExpirationTime(4_000_000_000);
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
  const forged = [
    `${head}.${body}.${signature.slice(0, -2)}AA`,
    `${none}.${body}.`,
    await claims().setProtectedHeader({ alg: "HS512" }).sign(testKey.reveal()),
    await claims().setProtectedHeader({ alg: "HS256" }).sign(new Uint8Array(32).fill(9)),
    await new SignJWT({ jti }).setAudience("other").setProtectedHeader({ alg: "HS256" }).sign(testKey.reveal()),
    jti,
    "",
  ];
  for (const cookie of forged) {
    expect((await it.ask("GET /ui/api/session", { headers: { Cookie: `${name}=${cookie}` } })).status).toBe(401);
  }
  expect((await it.ask("GET /ui/api/session", { headers: { Cookie: `a=b; ${name}=${value}; c=d` } })).status).toBe(200);
});

test("a wrong token in the header is not saved by a cookie", async () => {
  const headers = await signedIn({ token: await it.token() });
  expect((await it.ask("GET /whoami", { headers: { ...headers, Authorization: "Bearer x" } })).status).toBe(401);
});

test.each([
  [{}, 400, "give a token, or the code of a one-time link"],
  [{ token: "pat_wrong" }, 401, "invalid or expired token"],
  [{ link: "wrong" }, 401, "this link was used already"],
  [{ user: "x" }, 400, "user: unknown field"],
])("signing in with %j is a %i", async (body, status, error) => {
  const answer = await it.ask("POST /ui/api/session", { body, headers: own });
  expect([answer.status, answer.error]).toEqual([status, expect.stringContaining(error)]);
});

test("guesses are counted by client, and a right token still goes through", async () => {
  const token = await it.token();
  const guess = async () => it.ask("POST /ui/api/session", { body: { link: "guess" }, headers: own });
  for (let count = 0; count < 10; count += 1) expect((await guess()).status).toBe(401);
  const refused = await guess();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "6"]);
  await signedIn({ token });
});

test("neither codes nor cookies are in the log", async () => {
  const code = await link();
  const headers = await signedIn({ link: code });
  const text = it.lines.join("");
  expect(text).not.toContain(code);
  expect(text).not.toContain((headers.Cookie ?? "").split("=")[1] ?? "?");
});
