import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ImportResult } from "../../../src/identity/api/manage/import.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../../support/identity.ts";
import { type Manage, managePlane } from "../../support/identity-plane.ts";

let world: IdentityWorld;
let manage: Manage;
let shop: Tenant;
beforeEach(async () => {
  world = identityWorld();
  manage = managePlane(world.running.identity.manage, world.context.log);
  shop = await world.tenant();
});
afterEach(() => world.close());

const lines = (...users: unknown[]) => users.map((user) => JSON.stringify(user)).join("\n");
const send = async (text: string, query = ""): Promise<ImportResult> => {
  const answer = await manage(`POST /identity/import?instance=${shop.id}${query}`, text);
  expect(answer.status).toBe(200);
  return answer.data as unknown as ImportResult;
};
const fetchAll = async (query = "", tenant = shop) =>
  (await manage(`GET /identity/export?instance=${tenant.id}${query}`)).text;
const uuid = (n: number) => `5e0f7a52-1111-4a1b-9d11-${String(n).padStart(12, "0")}`;
const hash = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

test("users come in, faulty lines are told by number, and the same lines again change nothing", async () => {
  const text = `${lines({ email: "a@x.test", id: uuid(1) }, { email: "b@x.test" })}\n\n{"email":"nope"}\r\n{}\n`;
  expect(await send(text)).toEqual({
    lines: 4,
    created: 2,
    updated: 0,
    skipped: 0,
    paired: 0,
    failed: 2,
    errors: [
      { line: 4, error: "email: is required, and must be an address" },
      { line: 5, error: "email: is required, and must be an address" },
    ],
    pairs: [],
  });
  expect(await send(text)).toMatchObject({ created: 0, skipped: 2, failed: 2 });
  const audit = await manage(`GET /identity/audit?instance=${shop.id}&query=action:user.import`);
  expect(audit.data.entries).toHaveLength(2);
});

test("what an export writes, another instance takes up, with identities and hashes where they are asked for", async () => {
  const identities = [{ provider: "github", uid: "77", email: "a@x.test", email_verified: true }];
  const ana = { id: uuid(1), email: "a@x.test", name: "Ana", password_hash: hash, email_verified: true, identities };
  await send(lines(ana, { id: uuid(2), email: "b@x.test", banned: true, created_at: "2020-05-06T07:08:09Z" }));
  const plain = await fetchAll();
  expect(plain).not.toContain("password_hash");
  expect(plain).toEndWith('{"end":true,"users":2}\n');
  const full = await fetchAll("&secrets=true");
  expect(full).toContain(hash);
  const store = world.context.store;
  await store.write(({ users }) => {
    for (const user of users.oldest(shop.entry().instance.seq, { limit: 10, after: 0 })) users.remove(user.seq);
  });
  expect(await send(full)).toMatchObject({ lines: 2, created: 2, failed: 0 });
  expect(await fetchAll("&secrets=true")).toBe(full);
  const user = store.users.byEmail(shop.entry().instance.seq, "a@x.test");
  expect(store.users.providers(user?.seq ?? 0)).toEqual(["github"]);
});

test("users that are there stay as they are, unless they are to be changed", async () => {
  await send(lines({ id: uuid(1), email: "a@x.test", name: "Ana", password_hash: hash }));
  const changed = lines({ id: uuid(1), email: "new@x.test", name: "Eva" });
  expect(await send(changed)).toMatchObject({ skipped: 1, updated: 0 });
  expect(await fetchAll()).toContain('"email":"a@x.test","name":"Ana"');
  expect(await send(changed, "&update=true")).toMatchObject({ updated: 1 });
  expect(await send(changed, "&update=true")).toMatchObject({ updated: 0, skipped: 1 });
  expect(await fetchAll("&secrets=true")).toContain('"email":"new@x.test","name":"Eva"');
  expect(await fetchAll("&secrets=true")).toContain(hash);
  expect(await send(lines({ email: "new@x.test", name: "Ida" }), "&update=true")).toMatchObject({ updated: 1 });
});

test("nothing comes in under somebody else's id, address or account", async () => {
  const other = await world.tenant();
  await world.user(other, { id: uuid(9) });
  await send(lines({ id: uuid(1), email: "a@x.test", identities: [{ provider: "github", uid: "77" }] }));
  const wrong = [
    { id: uuid(9), email: "z@x.test" },
    { id: uuid(2), email: "a@x.test" },
    { id: uuid(3), email: "c@x.test", identities: [{ provider: "github", uid: "77" }] },
    { email: "x@users.noreply.invalid" },
  ];
  const result = await send(lines(...wrong));
  expect(result).toMatchObject({ created: 0, failed: 4 });
  expect(result.errors.map(({ error }) => error)).toEqual([
    `id: ${uuid(9)} is a user of another instance`,
    `email: a@x.test belongs to user ${uuid(1)}`,
    `identities: the github account belongs to user ${uuid(1)}`,
    "email: users.noreply.invalid is for addresses that the service makes",
  ]);
  expect(await fetchAll()).toEndWith('{"end":true,"users":1}\n');
});

test("many lines, too many faults and a line that is too long", async () => {
  const many = Array.from({ length: 1_234 }, (_, n) => ({ email: `u${n}@x.test` }));
  expect(await send(lines(...many))).toMatchObject({ created: 1_234 });
  expect((await fetchAll()).split("\n")).toHaveLength(1_234 + 2);
  const faults = await send("{\n".repeat(600));
  expect([faults.failed, faults.errors.length]).toEqual([600, world.context.limits.importErrorsShown]);
  expect(faults.errors.at(-1)?.line).toBe(world.context.limits.importErrorsShown);
  const long = await send(JSON.stringify({ email: "l@x.test", name: "x".repeat(70_000) }));
  expect(long.errors).toEqual([{ line: 1, error: expect.stringContaining("is longer than 65536 characters") }]);
  expect(await send("")).toMatchObject({ lines: 0 });
});

test("a search finds what was imported", async () => {
  await send(lines(...Array.from({ length: 300 }, (_, n) => ({ email: `u${n}@x.test`, name: `Name ${n}` }))));
  const { data } = await manage(`GET /identity/users?instance=${shop.id}&query=${encodeURIComponent("email:*u77@*")}`);
  expect(data.users).toMatchObject([{ email: "u77@x.test" }]);
});
