import { afterEach, beforeEach, expect, test } from "bun:test";
import { type IdentityWorld, identityWorld } from "../../../support/identity.ts";

let it: IdentityWorld;

beforeEach(() => {
  it = identityWorld({ directoryMax: 8 });
});

afterEach(() => it.close());

test("an instance is one object by every name, until anything is written to any of them", async () => {
  const shop = await it.tenant({}, "login.shop.test");
  const { directory, store } = it.context;
  const entry = shop.entry();
  expect(directory.byHost("login.shop.test")).toBe(entry);
  expect(directory.byPublishableKey(shop.publishableKey)).toBe(entry);
  expect(directory.bySeq(entry.instance.seq)).toBe(entry);
  expect(directory.bySecretKey(shop.secretKey)?.entry).toBe(entry);
  await store.write(({ instances }) => instances.update({ ...entry.instance, host: "new.shop.test" }));
  expect(directory.byHost("login.shop.test")).toBeUndefined();
  expect(directory.byHost("new.shop.test")?.instance.id).toBe(shop.id);
  expect(entry.instance.host).toBe("login.shop.test");
});

test("users and sessions that come and go leave it alone", async () => {
  const shop = await it.tenant();
  const entry = shop.entry();
  await it.signedIn(shop);
  expect(shop.entry()).toBe(entry);
});

test("names that do not exist are not remembered, and neither is more than there is room for", async () => {
  const tenants = [];
  for (let count = 0; count < 6; count += 1) tenants.push(await it.tenant());
  for (let round = 0; round < 3; round += 1) {
    for (const tenant of tenants) {
      expect(it.context.directory.bySecretKey(tenant.secretKey)?.entry.instance.id).toBe(tenant.id);
      expect(it.context.directory.byPublishableKey(tenant.publishableKey)?.instance.id).toBe(tenant.id);
      expect(it.context.directory.byHost(`none${round}.test`)).toBeUndefined();
    }
  }
});

test("what instances have in common", async () => {
  await it.tenant({ secret_key_headers: ["X-A"], redirect_uris: ["https://a.test/cb"] });
  await it.tenant({ secret_key_headers: ["x-a", "X-B"], publishable_key_headers: ["X-P"] });
  expect(it.context.directory.overview()).toEqual({
    secretKeyHeaders: ["x-a", "x-b"],
    publishableKeyHeaders: ["x-p"],
    hasHosts: false,
  });
  await it.tenant({}, "id.shop.test");
  expect(it.context.directory.overview().hasHosts).toBe(true);
});
