import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type IdentityWorld, identityWorld, type Tenant, withSecret } from "../../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;
let other: Tenant;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
  other = await it.tenant();
});

afterEach(() => it.close());

type Resource = { id: string; data: Record<string, unknown> };

const ask = (path: string, tenant = shop) => it.ask(`GET /api/v1/${path}`, { headers: withSecret(tenant) });

async function find(kind: "users" | "sessions", query: string, tenant = shop): Promise<Resource[]> {
  const { status, json } = await ask(`${kind}/search?query=${encodeURIComponent(query)}`, tenant);
  expect(status).toBe(200);
  return json as Resource[];
}

const emails = (found: Resource[]) => found.map(({ data }) => data.email);

describe("GET /users/search", () => {
  beforeEach(async () => {
    for (const [email, name] of [
      ["ana@shop.test", "Ana Silva"],
      ["bo@shop.test", "Bo 100%"],
      ["carl_x@corp.test", "CARL O'Neil"],
      ["carlax@corp.test", "Ünal \\ Çelik"],
    ]) {
      await it.user(shop, { email, name });
      it.clock.moveTo(it.clock.steady() + 86_400_000);
    }
    await it.user(other, { email: "ana@shop.test", name: "Another Ana" });
  });

  test("finds by every form of the grammar, newest first", async () => {
    const cases: [string, string[]][] = [
      ["email:ana@shop.test", ["ana@shop.test"]],
      ["email:ANA@shop.test", ["ana@shop.test"]],
      ["email:*@SHOP.test", ["bo@shop.test", "ana@shop.test"]],
      ["email:carl*", ["carlax@corp.test", "carl_x@corp.test"]],
      ["name:*SILVA*", ["ana@shop.test"]],
      ["name:*ünal*", ["carlax@corp.test"]],
      ["email:ana@shop.test email:bo@shop.test", ["bo@shop.test", "ana@shop.test"]],
      ["email:*shop* -name:Ana*", ["bo@shop.test"]],
      ["created_at>=2026-01-02 created_at<2026-01-03", ["bo@shop.test"]],
      ["created_at:2026-01-03", ["carl_x@corp.test"]],
      ["-email:*shop*", ["carlax@corp.test", "carl_x@corp.test"]],
      ["email:*o* name:*a*", ["carlax@corp.test", "carl_x@corp.test", "ana@shop.test"]],
    ];
    for (const [query, wanted] of cases) expect([query, emails(await find("users", query))]).toEqual([query, wanted]);
  });

  test("takes metacharacters of LIKE, SQL and full-text search for what they are", async () => {
    const cases: [string, string[]][] = [
      ["email:*l_x*", ["carl_x@corp.test"]],
      ["name:*100%*", ["bo@shop.test"]],
      ["name:*%*", ["bo@shop.test"]],
      ["name:*O'N*", ["carl_x@corp.test"]],
      [String.raw`name:*\\*`, ["carlax@corp.test"]],
      // An escaped star is a star, and no name has one.
      [String.raw`name:*\**`, []],
      ['name:*"*', []],
      ["name:*'*or*1=1--*", []],
      ["email:x'*OR*'1'='1", []],
      ["name:*AND* name:*NOT*", []],
      ["name:*{email}*", []],
    ];
    for (const [query, wanted] of cases) {
      // A star within is a wildcard: a comment or a space cannot be smuggled in.
      expect([query, emails(await find("users", query))]).toEqual([query, wanted]);
    }
    expect(await find("users", "email:*test*")).toHaveLength(4);
  });

  test("ignores what means nothing, says so, and never takes it for everything", async () => {
    const { status, json, headers } = await ask(
      "users/search?query=status:active+email:*shop*+foo+created_at%3Esoon+password_hash:*+email:",
    );
    expect(status).toBe(200);
    expect(emails(json as Resource[])).toEqual(["bo@shop.test", "ana@shop.test"]);
    const ignored = headers.get("x-search-ignored")?.split(" ").map(decodeURIComponent);
    expect(ignored).toEqual(["status:active", "foo", "created_at>soon", "password_hash:*", "email:"]);
    for (const query of ["", "status:active", "secret_key:* kv:* instance:1 seq>0", "%20%20", "-constructor:x"]) {
      expect((await ask(`users/search?query=${query}`)).json).toEqual([]);
    }
    expect((await ask("users/search")).json).toEqual([]);
  });

  test("strict refuses them and names them", async () => {
    const { status, json } = await ask("users/search?query=status:active+email:*shop*&strict=1");
    expect(status).toBe(400);
    expect((json as { error: string }).error).toContain("status:active");
    expect((await ask("users/search?query=email:*shop*&strict=1")).status).toBe(200);
  });

  test("?email= finds addresses that contain it", async () => {
    expect(emails((await ask("users/search?email=SHOP")).json as Resource[])).toEqual([
      "bo@shop.test",
      "ana@shop.test",
    ]);
    expect(emails((await ask("users/search?email=shop&query=name:Ana*")).json as Resource[])).toEqual([
      "ana@shop.test",
    ]);
    expect((await ask("users/search?email=*")).json).toEqual([]);
  });

  test("a plus in the query is a space, %2B is itself", async () => {
    await it.user(shop, { email: "ana+tag@shop.test", name: "Tagged" });
    expect(emails((await ask("users/search?query=email:ana%2Btag*+name:Tagged")).json as Resource[])).toEqual([
      "ana+tag@shop.test",
    ]);
  });

  test("an exact answer is the same as that of a wildcard: providers in order of their joining, then the password", async () => {
    const user = await it.user(shop, { email: "dora@shop.test", name: "Dora", passwordHash: "$argon2id$x" });
    for (const provider of ["twitter", "google"]) {
      await it.context.store.write(({ identities }) =>
        identities.add({
          id: crypto.randomUUID(),
          instance: user.instance,
          user: user.seq,
          provider,
          uid: `${provider}-1`,
          email: undefined,
          emailVerified: false,
          accessToken: undefined,
          refreshToken: undefined,
          tokenExpiresAt: undefined,
          createdAt: 1,
          updatedAt: 1,
        }),
      );
    }
    const exact = await find("users", "email:dora@shop.test");
    expect(exact[0]?.data.providers).toEqual(["twitter", "google", "password"]);
    expect(await find("users", "email:dora*")).toEqual(exact);
    expect(await find("users", `id:${user.id}`)).toEqual(exact);
    expect((await ask(`users/${user.id}`)).json).toEqual(exact[0] as Resource);
  });

  test("too long and too many are refused", async () => {
    expect((await ask(`users/search?query=name:${"x".repeat(1_100)}`)).status).toBe(400);
    expect((await ask(`users/search?query=${"name:a+".repeat(21)}`)).status).toBe(400);
    expect((await ask("users/search?query=name:a&limit=0")).status).toBe(400);
    expect((await ask("users/search?query=name:a&cursor=..")).status).toBe(400);
  });

  test("pages by cursor, the array unchanged", async () => {
    const seen: unknown[] = [];
    let path: string | undefined = "users/search?query=email:*.test*&limit=3";
    while (path !== undefined) {
      const { json, headers } = await ask(path);
      seen.push(...emails(json as Resource[]));
      path = /<\/api\/v1\/([^>]+)>/.exec(headers.get("link") ?? "")?.[1];
      expect(path?.includes(headers.get("x-next-cursor") ?? "")).toBe(path === undefined ? undefined : true);
    }
    expect(seen).toEqual(["carlax@corp.test", "carl_x@corp.test", "bo@shop.test", "ana@shop.test"]);
  });

  test("answers with the key of the instance alone, before anything else is looked at", async () => {
    expect((await it.ask("GET /api/v1/users/search?query=email:*")).json).toEqual({ error: "Unauthorized" });
    expect((await it.ask(`GET /api/v1/users/search?query=${"x".repeat(2_000)}`)).status).toBe(401);
    expect((await find("users", "email:ana@shop.test", other)).map(({ data }) => data.name)).toEqual(["Another Ana"]);
    expect((await find("users", "name:*Another*")).length).toBe(0);
  });
});

describe("GET /sessions/search", () => {
  test("finds by provider, address and time; revoked ones too", async () => {
    const ana = await it.user(shop, { email: "ana@shop.test", name: "Ana" });
    await it.session(shop, ana, { provider: "google" });
    it.clock.moveTo(it.clock.steady() + 86_400_000);
    const second = await it.session(shop, ana, { provider: "github" });
    await it.session(other, await it.user(other, { email: "ana@shop.test" }), { provider: "github" });
    await it.ask(`DELETE /api/v1/sessions/${second.sessionId}`, { headers: withSecret(shop) });
    const providers = async (query: string) => (await find("sessions", query)).map(({ data }) => data.provider);
    expect(await providers("provider:google provider:github")).toEqual(["github", "google"]);
    expect(await providers("provider:git*")).toEqual(["github"]);
    expect(await providers("ip_address:203.0.*")).toEqual(["github", "google"]);
    expect(await providers("logged_in_at<2026-01-01T12:00:00Z")).toEqual(["google"]);
    expect(await providers("revoked_at>2026-01-01")).toEqual(["github"]);
    expect(await providers("email:ana@shop.test -revoked_at>2026-01-01")).toEqual(["google"]);
    expect(await providers(`session_id:${second.sessionId}`)).toEqual(["github"]);
    expect(await providers(`user_id:${ana.id}`)).toEqual(["github", "google"]);
    const listed = (await ask("sessions")).json;
    expect((await ask("sessions/search?email=ana")).json).toEqual(listed);
  });
});
