import { expect, test } from "bun:test";
import {
  type Link,
  linkAction,
  linksAction,
  readKey,
  readLinks,
  unlinkAction,
  withLink,
  withoutLink,
} from "../../../../plugins/kit/links.ts";

const web: Link = { app: "shop/web", key: "DATABASE_URL", reads: false, database: "app", user: "app", declared: false };
const urls = { write: "postgres://w", read: "postgres://r" };

test("links survive the way through a config value, and what cannot be read is none", () => {
  const { kv } = linksAction({ scope: "data", name: "main" }, "PG_LINKS", [web]) as { kv: Record<string, string> };
  expect(readLinks(kv.PG_LINKS)).toEqual([web]);
  for (const value of [undefined, "", "{", "null", "{}", '[1, null, {"app": 1}]']) expect(readLinks(value)).toEqual([]);
});

test("no links unset the key, and the block's own pods are never rolled for it", () => {
  expect(linksAction({ scope: "data", name: "main" }, "PG_LINKS", [])).toMatchObject({
    type: "config_set",
    kv: { PG_LINKS: "" },
    skip_restart: true,
  });
});

test("one link per key of an app; the newer one counts", () => {
  const reads = { ...web, reads: true };
  const other = { ...web, key: "ORDERS_URL" };
  expect(withLink([web, other], reads)).toEqual([reads, other]);
  expect(withoutLink([reads, other], "shop/web", "ORDERS_URL")).toEqual([reads]);
  expect(withoutLink([reads, other], "shop/web", undefined)).toEqual([]);
});

test("the app gets its URLs and is rolled; unlinking takes both away", () => {
  expect(linkAction(web, urls)).toMatchObject({ scope: "shop", name: "web", kv: { DATABASE_URL: "postgres://w" } });
  const action = linkAction({ ...web, reads: true }, urls);
  expect(action).toMatchObject({ kv: { DATABASE_URL: "postgres://w", DATABASE_READ_URL: "postgres://r" } });
  expect(action).not.toHaveProperty("skip_restart");
  expect(unlinkAction({ ...web, reads: true })).toMatchObject({ keys: ["DATABASE_URL", "DATABASE_READ_URL"] });
  expect(JSON.stringify(action.summary)).not.toContain("postgres://");
  expect([readKey("DATABASE_URL"), readKey("DSN")]).toEqual(["DATABASE_READ_URL", "DSN_READ"]);
});
