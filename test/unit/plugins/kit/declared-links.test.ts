import { describe, expect, test } from "bun:test";
import type { Action } from "../../../../src/orchestration/api/plugins/action.ts";
import { expandPostgres } from "../../../../plugins/postgres/expand.ts";
import { expandRedis } from "../../../../plugins/redis/expand.ts";
import { readLinks } from "../../../../plugins/kit/links.ts";

const context = { envPrefix: "BERTH", newPassword: () => "s3cret" };
const complete = {
  POSTGRES_PASSWORD: "pw",
  POSTGRES_PASSWORD_REPORTING: "rp",
  POSTGRES_MAINTENANCE_PASSWORD: "m",
  PG_PRIMARY_ORDINAL: "1",
  PG_EPOCH: "4",
  PG_BACKUPS_KEEP: "7",
};
const expanded = (spec: Record<string, unknown>, config: Record<string, string> = complete) =>
  expandPostgres({ kind: "postgres", scope: "data", name: "main", spec: { replicas: 2, ...spec }, config }, context)
    .actions;
const set = (action: Action | undefined) => {
  if (action?.type !== "config_set") throw new Error(`not a config_set: ${JSON.stringify(action)}`);
  return { to: `${action.scope}/${action.name}`, kv: action.kv };
};

describe("links that are written in a block", () => {
  test("give each app its URL of the primary of now, at every apply", () => {
    const links = ["shop/web", { app: "jobs", as: "STATS_URL", reads: true, database: "stats", user: "reporting" }];
    const actions = expanded({ links, users: ["reporting"] });
    expect(actions.slice(0, 2).map(set)).toEqual([
      { to: "shop/web", kv: { DATABASE_URL: "postgres://app:pw@main-1.data:5432/app" } },
      {
        to: "data/jobs",
        kv: {
          STATS_URL: "postgres://reporting:rp@main-1.data:5432/stats",
          STATS_READ_URL: "postgres://reporting:rp@main.data:5432/stats",
        },
      },
    ]);
    const known = { ...complete, ...set(actions[2]).kv };
    expect(readLinks(String(set(actions[2]).kv.PG_LINKS)).map(({ app, declared }) => [app, declared])).toEqual([
      ["data/jobs", true],
      ["shop/web", true],
    ]);
    expect(expanded({ links, users: ["reporting"] }, known)).toEqual(actions);
  });

  test("of a block that is made again have the new password at once", () => {
    const [fresh, link] = expanded({ links: ["shop/web"] }, {});
    expect(set(fresh).kv).toMatchObject({ POSTGRES_PASSWORD: "s3cret", PG_PRIMARY_ORDINAL: "0" });
    expect(set(link).kv).toEqual({ DATABASE_URL: "postgres://app:s3cret@main-0.data:5432/app" });
  });

  test("that are no longer written are taken away; those that a command made stay", () => {
    const link = { app: "shop/web", key: "DATABASE_URL", reads: true, database: "app", user: "app" };
    const PG_LINKS = JSON.stringify([
      { ...link, declared: true },
      { ...link, app: "shop/other", reads: false },
    ]);
    const actions = expanded({}, { ...complete, PG_LINKS });
    expect(actions[0]).toMatchObject({
      type: "config_unset",
      scope: "shop",
      name: "web",
      keys: ["DATABASE_URL", "DATABASE_READ_URL"],
    });
    expect(readLinks(set(actions[1]).kv.PG_LINKS).map(({ app }) => app)).toEqual(["shop/other"]);
    expect(actions).toHaveLength(2);
    expect(expanded({}, { ...complete, PG_LINKS: JSON.stringify([{ ...link, app: "shop/other" }]) })).toEqual([]);
  });

  test("name what is wrong with them", () => {
    expect(() => expanded({ links: [{ app: "shop/web", user: "nobody" }] })).toThrow(
      'links[0].user: "nobody" is not a user of this block',
    );
    expect(() => expanded({ links: [{ as: "X" }] })).toThrow("links[0].app");
    expect(() => expanded({ links: ["a/b/c"] })).toThrow("links[0].app");
    expect(() => expanded({ links: [{ app: "web", as: "lower" }] })).toThrow("links[0].as");
  });
});

test("redis has the same, with numbers of databases", () => {
  const spec = { links: [{ app: "web", database: "3" }] };
  const { actions } = expandRedis({ kind: "redis", scope: "data", name: "cache", spec, config: {} }, context);
  expect(set(actions[1])).toEqual({ to: "data/web", kv: { REDIS_URL: "redis://default:s3cret@cache-0.data:6379/3" } });
});

describe("failover in a block", () => {
  const settings = (spec: Record<string, unknown>) => {
    const block = { kind: "postgres", scope: "data", name: "main", spec, config: complete };
    const [asset] = expandPostgres(block, context).manifests;
    return (asset?.spec.files as Record<string, string> | undefined)?.settings_conf;
  };

  test("changes no pod, unless a write is to wait for a standby", () => {
    const without = settings({ replicas: 3 });
    expect(settings({ replicas: 3, failover: { after: "10s" } })).toBe(without);
    expect(settings({ replicas: 3, failover: { synchronous: true } })).toContain(
      `synchronous_standby_names = 'ANY 1 ("pod-0", "pod-1", "pod-2")'`,
    );
  });

  test("names what is wrong with it", () => {
    expect(() => settings({ replicas: 2, failover: { after: "1s" } })).toThrow(
      'after: "1s" is not a duration of at least 5s',
    );
    expect(() => settings({ failover: {}, replicas: 1 })).toThrow("failover: needs a standby");
    expect(() =>
      settings({ replicas: 2, failover: { synchronous: true }, settings: { synchronous_commit: "off" } }),
    ).toThrow("settings.synchronous_commit: is set by failover.synchronous");
    const redis = { kind: "redis", scope: "data", name: "c", config: {} };
    expect(() => expandRedis({ ...redis, spec: { replicas: 2, failover: {}, persistence: "none" } }, context)).toThrow(
      "failover: needs persistence",
    );
    expect(() => expandRedis({ ...redis, spec: { replicas: 2, failover: { synchronous: true } } }, context)).toThrow(
      "synchronous: unknown field",
    );
  });
});
