import { expect, test } from "bun:test";
import fc from "fast-check";
import { reachOf } from "../../src/access/reach.ts";
import type { Block } from "../../plugins/kit/block.ts";
import { expandPostgres } from "../../plugins/postgres/expand.ts";
import { expandRedis } from "../../plugins/redis/expand.ts";
import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { limits } from "../../src/config/config.ts";
import { decodeManifests } from "../../src/orchestration/core/validate.ts";

let made = 0;
const context = { envPrefix: "BERTH", newPassword: () => (++made).toString(16).padStart(64, "0") };
type Expand = (block: Block) => { manifests: Manifest[]; actions: Action[] };
const kinds: Record<string, Expand> = {
  postgres: (block) => expandPostgres(block, context),
  redis: (block) => expandRedis(block, context),
};

const word = fc
  .stringMatching(/^[a-z_][a-z0-9_]{0,20}$/)
  .filter((name) => !/^(?:pg_|berth_|postgres$|maintenance$|template|default$|app$)/.test(name));
const words = fc.uniqueArray(word, { maxLength: 4 });
const oneLine = fc.string({ maxLength: 30 }).map((text) => text.replace(/[\n\r\0]/g, " "));
const schedule = fc.constantFrom("@daily", "30 3 * * *");
const backups = fc.record(
  { keep: fc.integer({ min: 1, max: 99 }), schedule, timezone: fc.constantFrom("UTC", "Asia/Tokyo") },
  { requiredKeys: [] },
);
const shared = {
  image: fc.constantFrom("postgres:16", "registry.example.com/db:1"),
  replicas: fc.integer({ min: 1, max: 16 }),
  port: fc.integer({ min: 1024, max: 50_000 }),
  storage: fc.constantFrom("1Gi", "20Gi"),
  backups,
  env: fc.dictionary(
    fc.stringMatching(/^[A-Z]{1,8}$/),
    oneLine.map((text) => text.replaceAll("$", "")),
    { maxKeys: 3 },
  ),
};
const specs: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
  postgres: fc.record(
    {
      ...shared,
      users: words,
      databases: words.map((names) => names.map((name) => ({ name, extensions: ["pgcrypto"] }))),
      extensions: fc.subarray(["pgcrypto", "uuid-ossp", "pg_trgm"]),
      settings: fc.dictionary(fc.constantFrom("max_connections", "log_line_prefix", "pg_stat.x"), oneLine),
    },
    { requiredKeys: [] },
  ),
  redis: fc.record(
    {
      ...shared,
      persistence: fc.constantFrom("aof", "rdb", "none"),
      users: words.map((names) => names.map((name) => ({ name, rules: "~x:* +@all" }))),
      settings: fc.dictionary(fc.constantFrom("maxmemory", "maxmemory-policy"), oneLine),
    },
    { requiredKeys: [] },
  ),
};
const identity = fc.record({
  scope: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$/),
  name: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,47}[a-z0-9])?$/),
});

function configOf(actions: readonly Action[]): Record<string, string> {
  return Object.assign({}, ...actions.map((action) => (action.type === "config_set" ? action.kv : {})));
}

for (const [kind, expand] of Object.entries(kinds)) {
  const spec = specs[kind] ?? fc.constant<Record<string, unknown>>({});

  test(`${kind}: whatever is written, the server accepts what it becomes`, () => {
    fc.assert(
      fc.property(identity, spec, ({ scope, name }, fields) => {
        const { manifests } = expand({ kind, scope, name, spec: fields, config: {} });
        const decoded = decodeManifests(manifests, { limits });
        expect(decoded.problems).toEqual([]);
        // So a token without admin can apply it.
        const reaching = decoded.manifests.flatMap((made) =>
          made.kind === "app" ? [] : reachOf({ ...made, kind: made.kind }),
        );
        expect(reaching).toEqual([]);
        expect(new Set(manifests.map((manifest) => `${manifest.kind}/${manifest.name}`)).size).toBe(manifests.length);
      }),
      { numRuns: 300 },
    );
  });

  test(`${kind}: with its config complete, the same block gives the same manifests and asks for nothing`, () => {
    fc.assert(
      fc.property(identity, spec, ({ scope, name }, fields) => {
        const first = expand({ kind, scope, name, spec: fields, config: {} });
        const config = configOf(first.actions);
        const again = expand({ kind, scope, name, spec: fields, config });
        expect(again.manifests).toEqual(first.manifests);
        expect(again.actions).toEqual([]);
        const secrets = Object.entries(config).flatMap(([key, value]) => (key.includes("PASSWORD") ? [value] : []));
        expect(secrets.length).toBeGreaterThan(0);
        const text = JSON.stringify(again.manifests);
        for (const secret of secrets) expect(text).not.toContain(secret);
      }),
      { numRuns: 300 },
    );
  });

  test(`${kind}: whichever pod is primary, its containers stay as they are`, () => {
    fc.assert(
      fc.property(spec, fc.nat({ max: 20 }), fc.nat(), (fields, primary, epoch) => {
        const block = { kind, scope: "data", name: "main", spec: fields };
        const config = configOf(expand({ ...block, config: {} }).actions);
        const places = Object.keys(config)
          .filter((key) => /_(?:PRIMARY_ORDINAL|EPOCH)$/.test(key))
          .sort();
        const moved = { ...config, [String(places[0])]: String(epoch), [String(places[1])]: String(primary) };
        const replicas = Number(fields.replicas ?? 1);
        const attempt = () => expand({ ...block, config: moved });
        if (primary >= replicas) expect(attempt).toThrow(`pod ${primary} is primary`);
        else expect(attempt()).toEqual(expand({ ...block, config }));
      }),
      { numRuns: 300 },
    );
  });

  test(`${kind}: nonsense is refused by naming its field, never by breaking`, () => {
    const known = ["image", "replicas", "port", "users", "databases", "settings", "backups", "env", "ports", "volumes"];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...known, "nonsense"), fc.jsonValue(), { minKeys: 1 }), (fields) => {
        try {
          expand({ kind, scope: "data", name: "main", spec: fields as Record<string, unknown>, config: {} });
        } catch (error) {
          expect((error as Error).name).toBe("PluginError");
          for (const line of (error as Error).message.split("\n")) expect(line).toMatch(/^spec\./);
        }
      }),
      { numRuns: 1_000 },
    );
  });
}
