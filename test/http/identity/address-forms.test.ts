import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openDatabase } from "../../../src/base/sqlite/database.ts";
import { identityMigrations, openIdentityStore } from "../../../src/identity/store/open-store.ts";
import { addProvider, claimsOf, linkIn, signInWorld, type SignInWorld } from "../../support/sign-in-world.ts";
import { type Tenant, withSecret } from "../../support/identity.ts";
import { testKey } from "../../support/store-root.ts";

let world: SignInWorld;
let shop: Tenant;

beforeEach(async () => {
  world = await signInWorld();
  shop = await world.shop();
});

afterEach(() => world.stop());

const stored = "ana@xn--mnchen-3ya.de";
/** As people write it, as browsers send it, and as other keyboards compose it. */
const forms = ["ana@münchen.de", stored, " Ana@MÜNCHEN.de", "ana@mu\u0308nchen.de"];
const password = "correct horse battery";
const users = () => world.context.store.users.list(shop.entry().instance.seq, { limit: 100 });
const manage = () => world.running.identity.manage;
const by = { actor: "operator" };

describe.each(forms)("one mailbox, written %j", (email) => {
  const submit = async (path: string, fields: Record<string, string>) => {
    const browser = world.browser();
    return browser.submit(await browser.open(world.page(shop, path)), path, fields);
  };

  test("sign-up makes one user, the mail goes to an address that mail servers take, and the page shows letters", async () => {
    const page = await submit("/sign-up", { name: "Ana", email, password });
    expect(page.html).toContain("ana@münchen.de");
    await submit("/sign-up", { name: "Ana", email: stored, password });
    expect(users().map((user) => user.email)).toEqual([stored]);
    expect(world.mails().map(({ message }) => message.to)).toEqual([stored, stored]);
  });

  test("sign-in, reset, tokens, sessions", async () => {
    await manage().users.create(shop.id, { email, password }, by);
    for (const typed of forms) {
      expect(claimsOf(await submit("/sign-in", { email: typed, password }))).toMatchObject({ email: stored });
    }
    await submit("/forgot", { email });
    expect(world.mails()[0]?.message).toMatchObject({ to: stored });
    expect(linkIn(world.mails()[0])).toContain("/reset?token=");
    const headers = withSecret(shop);
    for (const typed of forms) {
      const query = encodeURIComponent(`email:${typed.trim()}`);
      const found = await world.ask(`GET /api/v1/users/search?query=${query}`, { headers });
      expect(found.json).toMatchObject([{ data: { email: stored } }]);
      const sessions = await world.ask(`GET /api/v1/sessions/search?query=${query}`, { headers });
      expect(sessions.json).toHaveLength(forms.length);
      expect(manage().users.get({ instance: shop.id, user: typed })).toMatchObject({ email: stored });
    }
    for (const query of ["query=email:*@m%C3%BCnchen.de", "email=M%C3%9CNCH"]) {
      const path = query.startsWith("email") ? "sessions" : "users";
      const found = await world.ask(`GET /api/v1/${path}/search?${query}`, { headers });
      expect(found.json).not.toHaveLength(0);
    }
  });

  test("create says who has it; a password that is the address is refused", async () => {
    const known = await world.user(shop, { email: stored });
    const users = manage().users;
    expect(users.create(shop.id, { email }, by)).rejects.toThrow(known.id);
    expect(users.setPassword({ instance: shop.id, user: email }, { password: email }, by)).rejects.toThrow("address");
  });

  test("providers join by it", async () => {
    const known = await world.user(shop, { email: stored, emailVerifiedAt: 1 });
    Object.assign(world.provider.person, { email });
    await addProvider(world, shop, { name: "acme", provider: world.provider, options: { trusted: true } });
    for (const name of ["google", "github", "acme"]) {
      expect(claimsOf(await world.signIn(world.browser(), shop, name))).toMatchObject({ sub: known.id, email: stored });
    }
    const strict = await world.shop({ linking: "authoritative" });
    const own = await world.user(strict, { email: stored, emailVerifiedAt: 1 });
    Object.assign(world.provider.person, { hd: "münchen.de" });
    expect(claimsOf(await world.signIn(world.browser(), strict, "google")).sub).toBe(own.id);
  });
});

describe("an import", () => {
  const send = (lines: object[], update = false) =>
    manage().transfer.import(shop.id, { text: lines.map((line) => JSON.stringify(line)).join("\n"), update, ...by });

  test.each([false, true])("merges no two forms, in either order, and says so (update %p)", async (update) => {
    const lines = [
      { email: "ana@münchen.de", name: "Ana" },
      { email: stored, name: "Another" },
      { email: "bob@xn--mnchen-3ya.de", name: "Bob" },
      { email: "bob@münchen.de", name: "Another" },
      { email: "Bob@xn--mnchen-3ya.de", name: "Bob" },
    ];
    const result = await send(lines, update);
    expect(result).toMatchObject({ created: 2, skipped: 3, paired: 2, updated: 0, failed: 0 });
    const [bob, ana] = users();
    expect([ana?.name, bob?.name]).toEqual(["Ana", "Bob"]);
    expect(result.pairs).toEqual([
      { line: 2, email: stored, user: ana?.id ?? "" },
      { line: 4, email: "bob@münchen.de", user: bob?.id ?? "" },
    ]);
    const again = { created: 0, updated: 0, failed: 0, skipped: 5, paired: 2 };
    expect(await send(lines, update)).toMatchObject(again);
    // A large file comes in several requests.
    for (const line of lines.toReversed()) expect(await send([line], update)).toMatchObject({ skipped: 1, failed: 0 });
    expect(users().map(({ name }) => name)).toEqual(["Bob", "Ana"]);
  });

  test("the same line again means the same user, as long as the user has that address", async () => {
    const line = { email: "ana@münchen.de", name: "Anna" };
    expect(await send([{ ...line, name: "Ana" }])).toMatchObject({ created: 1 });
    expect(await send([line], true)).toMatchObject({ updated: 1, paired: 0 });
    const [ana] = users();
    if (ana === undefined) throw new Error("no user");
    await world.context.store.write((nouns) => nouns.users.update({ ...ana, email: "ana@x.test" }));
    expect(await send([line], true)).toMatchObject({ created: 1, paired: 0 });
  });

  test("a line with the id means that user, whatever the form; another id is a fault that names the user", async () => {
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
    expect(await send([{ id: one, email: "ana@münchen.de", name: "Ana" }])).toMatchObject({ created: 1 });
    expect(await send([{ id: one, email: "ana@münchen.de", name: "Anna" }], true)).toMatchObject({
      updated: 1,
      paired: 0,
    });
    const { errors } = await send([{ id: two, email: stored }]);
    expect(errors).toEqual([{ line: 1, error: `email: ${stored} belongs to user ${one}` }]);
  });
});

describe("what earlier versions stored", () => {
  /** Stops the service, writes what an earlier version could, and starts a store on it. */
  const upgraded = (write: (run: (sql: string, ...values: (string | number)[]) => void) => void) => {
    const { path, context } = world;
    context.store.close();
    const db = openDatabase(path, identityMigrations);
    write((sql, ...values) => void db.query<unknown, (string | number)[]>(sql).run(...values));
    db.run("delete from meta where key = 'address_form'");
    db.close();
    return openIdentityStore({ path, key: testKey });
  };

  test("comes into the one form, in every table; what is in it already stays", async () => {
    const user = await world.user(shop, { email: "old@x.test", passwordHash: "x" });
    const local = await world.user(shop, { email: "jürgen@x.test" });
    const session = await world.session(shop, user);
    await world.context.store.write(({ identities, audit }) => {
      const ids = { id: crypto.randomUUID(), instance: user.instance, user: user.seq, provider: "google", uid: "1" };
      const tokens = { accessToken: undefined, refreshToken: undefined, tokenExpiresAt: undefined };
      identities.add({ ...ids, ...tokens, email: "old@x.test", emailVerified: true, createdAt: 1, updatedAt: 1 });
      const about = { userId: user.id, email: "old@x.test", sessionId: undefined, provider: undefined };
      const at = { id: crypto.randomUUID(), instance: user.instance, at: 1, actor: "user", action: "user.create" };
      audit.append({ ...at, ...about, ipAddress: undefined, detail: {} });
    });
    const store = upgraded((run) => {
      for (const table of ["users", "sessions", "identities", "audit"])
        run(`update ${table} set email = ? where email = ?`, forms[0] ?? "", "old@x.test");
    });
    try {
      const { seq } = store.instances.get(shop.id) ?? { seq: 0 };
      expect(store.users.byEmail(seq, stored)).toMatchObject({ id: user.id, updatedAt: user.updatedAt });
      expect(store.sessions.bySeq(session.seq)?.email).toBe(stored);
      expect(store.identities.list(user.seq).map(({ email }) => email)).toEqual([stored]);
      const trail = store.audit.list(seq, { limit: 100 });
      expect(trail.find(({ action }) => action === "user.create")).toMatchObject({ userId: user.id, email: stored });
      expect(store.users.bySeq(local.seq)?.email).toBe("jürgen@x.test");
      expect(store.users.writtenOtherwise(10)).toEqual([]);
    } finally {
      store.close();
    }
  });

  test("two users of one mailbox stay two, are named, and either can be deleted", async () => {
    for (const kept of ["holder", "other"] as const) {
      const holder = await world.user(shop, { email: stored });
      const other = await world.user(shop, { email: `${kept}@x.test` });
      // As the start leaves them: the address in its one form is taken.
      await world.context.store.write(({ users: all }) => all.update({ ...other, email: "ana@münchen.de" }));
      expect(manage().pairs(shop.id)).toMatchObject({
        pairs: [{ email: stored, holder: { id: holder.id }, other: { id: other.id, email: "ana@münchen.de" } }],
        more: false,
      });
      expect(manage().pairs(undefined).pairs).toHaveLength(1);
      expect(() => manage().pairs("inst_none")).toThrow("no instance");
      const [stays, goes] = kept === "holder" ? [holder, other] : [other, holder];
      await world.ask(`DELETE /api/v1/users/${goes.id}`, { headers: withSecret(shop) });
      expect(manage().pairs(shop.id).pairs).toEqual([]);
      expect(users()).toMatchObject([{ id: stays.id, email: stored }]);
      await world.ask(`DELETE /api/v1/users/${stays.id}`, { headers: withSecret(shop) });
    }
  });

  test("a start says that there are pairs, and keeps them apart", async () => {
    const holder = await world.user(shop, { email: stored });
    const other = await world.user(shop, { email: "old@x.test" });
    await world.context.store.write(({ users: all }) => all.update({ ...other, email: "ana@münchen.de" }));
    const stop = new AbortController();
    const running = world.running.run(stop.signal);
    stop.abort();
    await running;
    expect(world.logged.join("\n")).toContain("berth identity user pairs");
    const store = upgraded(() => undefined);
    try {
      expect(store.users.bySeq(holder.seq)?.email).toBe(stored);
      expect(store.users.bySeq(other.seq)?.email).toBe("ana@münchen.de");
    } finally {
      store.close();
    }
  });
});

describe("a password is one text, at every door", () => {
  const [composed, apart] = ["crème brûlée dupont", "cre\u0300me bru\u0302le\u0301e\u00a0dupont"];
  const email = "ana@example.com";
  const submit = async (path: string, fields: Record<string, string>, browser = world.browser()) =>
    browser.submit(await browser.open(world.page(shop, path)), path, fields);
  const opens = async (typed: string) => (await submit("/sign-in", { email, password: typed })).url.includes("token=");

  test.each([
    [composed, apart],
    [apart, composed],
  ])("sign-up, its link, reset, an operator: chosen as %j, typed as %j", async (chosen, typed) => {
    await submit("/sign-up", { name: "Ana", email, password: chosen });
    const phone = world.browser();
    const asked = await phone.open(linkIn(world.mails()[0]));
    claimsOf(await phone.submit(asked, "/verify", { password: typed }));
    expect([await opens(typed), await opens(chosen), await opens("creme brulee dupont")]).toEqual([true, true, false]);
    await submit("/forgot", { email });
    const reset = await phone.open(linkIn(world.mails()[0]));
    await phone.submit(reset, "/reset", { password: `${chosen} 2` });
    expect(await opens(`${typed} 2`)).toBe(true);
    await manage().users.setPassword({ instance: shop.id, user: email }, { password: `${chosen} 3` }, by);
    expect(await opens(`${typed} 3`)).toBe(true);
    await manage().users.create(shop.id, { email: "bob@example.com", password: chosen }, by);
    const bob = await submit("/sign-in", { email: "bob@example.com", password: typed });
    expect(bob.url).toContain("token=");
  });

  test("a hash of what was typed opens, and is of the one form afterwards", async () => {
    const passwordHash = await Bun.password.hash(apart, { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 });
    await world.user(shop, { email, passwordHash });
    expect(await opens(composed)).toBe(false);
    expect(await opens(apart)).toBe(true);
    expect([await opens(composed), await opens(apart)]).toEqual([true, true]);
  });

  test("the length is that of the one form", async () => {
    const strict = { instance: shop.id, user: email };
    await manage().users.create(shop.id, { email }, by);
    const short = manage().users.setPassword(strict, { password: "e\u0301a\u0300o\u0302u\u0308" }, by);
    expect(short).rejects.toThrow("at least 8 characters");
  });
});
