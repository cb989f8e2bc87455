import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Answer, type IdentityWorld, identityWorld, type Tenant, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;

beforeEach(async () => {
  it = identityWorld({ listPageRows: 7 });
  shop = await it.tenant();
});

afterEach(() => it.close());

const get = (target: string) => it.ask(`GET ${target}`, { headers: withSecret(shop) });
const ids = ({ json }: Answer) => (json as { id: string }[]).map(({ id }) => id);

/** Follows the cursors, by their header and by the link in turn. */
async function walk(path: string, query: string): Promise<{ pages: number; seen: string[] }> {
  const seen: string[] = [];
  let target: string | undefined = `${path}?${query}`;
  let pages = 0;
  while (target !== undefined) {
    const answer = await get(target);
    expect(answer.status).toBe(200);
    seen.push(...ids(answer));
    pages += 1;
    const next: string | null = answer.headers.get("x-next-cursor");
    const link: string | undefined = /^<(.+)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1];
    expect(link === undefined).toBe(next === null);
    target = next === null ? undefined : pages % 2 === 0 ? link : `${path}?${query}&cursor=${next}`;
  }
  return { pages, seen };
}

test("users: every page of every size shows each once, newest first", async () => {
  const made: string[] = [];
  for (let count = 0; count < 23; count += 1) made.unshift((await it.user(shop)).id);
  await it.user(await it.tenant());
  for (const limit of [1, 2, 7, 8, 22, 23, 24]) {
    const { pages, seen } = await walk("/api/v1/users", `limit=${limit}`);
    expect([limit, seen]).toEqual([limit, made]);
    expect([limit, pages]).toEqual([limit, Math.ceil(23 / limit)]);
  }
});

test("sessions: also among many of the same moment", async () => {
  const user = await it.user(shop);
  const made: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    if (count % 5 === 0) it.clock.moveTo(it.clock.now() + 1_000);
    made.unshift((await it.session(shop, user)).id);
  }
  for (const limit of [1, 3, 5, 20, 50]) expect((await walk("/api/v1/sessions", `limit=${limit}`)).seen).toEqual(made);
});

test("an answer stays below 1 MiB however many there are, and its array is complete with the next ones", async () => {
  const made: string[] = [];
  const text = "ä".repeat(2_000);
  for (let count = 0; count < 600; count += 1) made.unshift((await it.user(shop, { name: text })).id);
  const first = await get("/api/v1/users");
  expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(900_000);
  expect(Buffer.byteLength(first.text)).toBeGreaterThan(890_000);
  expect((await walk("/api/v1/users", "")).seen).toEqual(made);
});

test("a user who joins or leaves on the way moves nobody else", async () => {
  const made: string[] = [];
  for (let count = 0; count < 6; count += 1) made.unshift((await it.user(shop)).id);
  const first = await get("/api/v1/users?limit=3");
  await it.user(shop);
  await it.ask(`DELETE /api/v1/users/${made[2]}`, { headers: withSecret(shop) });
  const second = await get(`/api/v1/users?limit=3&cursor=${first.headers.get("x-next-cursor")}`);
  expect([...ids(first), ...ids(second)]).toEqual(made);
});

test("a cursor says nothing about other tenants, and is good where it was given", async () => {
  const other = await it.tenant();
  for (const tenant of [shop, other]) {
    for (let count = 0; count < 3; count += 1) await it.session(tenant, await it.user(tenant));
  }
  const cursorOf = async (path: string, tenant = shop) =>
    (await it.ask(`GET ${path}`, { headers: withSecret(tenant) })).headers.get("x-next-cursor") ?? "";
  const paths = ["/api/v1/users?limit=1", "/api/v1/sessions?limit=1", "/api/v1/users/search?query=name:u*&limit=1"];
  for (const path of paths) {
    const cursor = await cursorOf(path);
    expect(Buffer.from(cursor, "base64url").toString("latin1")).not.toMatch(/^[\d.]+$/);
    expect(cursor).not.toBe(await cursorOf(path));
    expect(cursor).toHaveLength((await cursorOf(path, other)).length);
    expect((await get(`${path}&cursor=${cursor}`)).status).toBe(200);
    const headers = withSecret(other);
    expect((await it.ask(`GET ${path}&cursor=${cursor}`, { headers })).json).toEqual({ error: "Invalid cursor" });
    for (const elsewhere of paths.filter((one) => one !== path)) {
      expect((await get(`${elsewhere}&cursor=${cursor}`)).status).toBe(400);
    }
  }
});

test("a cursor or a limit that is none is 400", async () => {
  await it.user(shop);
  for (const path of ["/api/v1/users", "/api/v1/sessions"]) {
    for (const cursor of ["x", "%00", "MQ==", "LTE", "MS4x.", "9".repeat(500), "MS4yLjM"]) {
      const { status, json } = await get(`${path}?cursor=${cursor}`);
      expect([cursor, status, json]).toEqual([cursor, 400, { error: "Invalid cursor" }]);
    }
    for (const limit of ["0", "-1", "x", "1.5", "10001", ""]) {
      expect([limit, (await get(`${path}?limit=${limit}`)).status]).toEqual([limit, 400]);
    }
  }
});

test("nothing at all is an empty array", async () => {
  for (const path of ["/api/v1/users", "/api/v1/sessions"]) expect((await get(path)).text).toBe("[]");
});
