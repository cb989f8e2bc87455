import { expect, test } from "bun:test";
import { createShortNames } from "../../../../src/local/names/short-names.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import type { StoredManifest } from "../../../../src/orchestration/api/manifest.ts";

type Key = Pick<StoredManifest, "kind" | "scope" | "name">;
const manifest = (kind: Key["kind"], scope: string, name: string, spec = {}) =>
  ({ kind, scope, name, spec: { image: "x:1", ...spec } }) as unknown as StoredManifest;

function world(...rows: StoredManifest[]) {
  const stored = [...rows];
  const get = (key: Key) =>
    stored.find((row) => row.kind === key.kind && row.scope === key.scope && row.name === key.name);
  const short = createShortNames({ get, heads: () => stored }, naming("berth"), 5);
  return { stored, short };
}

test("services, their aliases and ordinals have short names", () => {
  const { short } = world(
    manifest("deployment", "dev", "Web".toLowerCase(), { docker_options: ["--network-alias=www"] }),
    manifest("statefulset", "dev", "db", { replicas: 2 }),
    manifest("deployment", "dev", "host", { network_mode: "host" }),
    manifest("job", "dev", "once"),
  );
  expect(short.list().toSorted()).toEqual(["db-0.dev", "db-1.dev", "db.dev", "web.dev", "www.dev"]);
});

test("what is written and deleted is followed, up to the limit", () => {
  const { short, stored } = world();
  expect(short.list()).toEqual([]);
  const rows = Array.from({ length: 7 }, (_, index) => manifest("deployment", "dev", `a${index}`));
  stored.push(...rows);
  short.changed(rows);
  expect(short.list().length).toBe(5);
  stored.length = 1;
  short.changed(rows);
  expect(short.list()).toEqual(["a0.dev"]);
});
