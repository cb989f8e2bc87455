import { expect, test } from "bun:test";
import { expandRedis } from "../../../../plugins/redis/expand.ts";

const context = { envPrefix: "BERTH", newPassword: () => "f00" };
const complete = { REDIS_PASSWORD: "hunter2", REDIS_PRIMARY_ORDINAL: "0", REDIS_EPOCH: "1", REDIS_BACKUPS_KEEP: "7" };

function expanded(spec: Record<string, unknown> = {}, config: Record<string, string> = complete) {
  const { manifests, actions } = expandRedis({ kind: "redis", scope: "data", name: "cache", spec, config }, context);
  const files = manifests[0]?.spec.files as Record<string, string>;
  return { manifests, actions, files, statefulset: manifests[1]?.spec, cronjob: manifests[2]?.spec };
}

test("an empty block is one server that keeps its data", () => {
  const { statefulset, files, actions } = expanded();
  expect(statefulset).toMatchObject({ image: "redis:7", replicas: 1, ports: ["6379"], command: ["/berth/serve.sh"] });
  expect(files.settings_conf).toContain("appendonly yes");
  expect(actions).toEqual([]);
});

test("the first apply makes the passwords and the place of the primary", () => {
  const { actions } = expanded({ users: [{ name: "web" }] }, {});
  expect(actions).toMatchObject([
    {
      type: "config_set",
      skip_restart: true,
      kv: { REDIS_PASSWORD: "f00", REDIS_PASSWORD_WEB: "f00", REDIS_PRIMARY_ORDINAL: "0", REDIS_EPOCH: "1" },
    },
  ]);
});

test("no secret stands in a manifest, and a failover replaces no container", () => {
  const moved = { ...complete, REDIS_PRIMARY_ORDINAL: "1", REDIS_EPOCH: "4" };
  expect(JSON.stringify(expanded().manifests)).not.toContain("hunter2");
  expect(expanded({ replicas: 2 }, moved).manifests).toEqual(expanded({ replicas: 2 }).manifests);
});

test("persistence is one of three", () => {
  expect(expanded({ persistence: "rdb" }).files.settings_conf).toContain("save 3600 1");
  expect(expanded({ persistence: "none" }).files.settings_conf).toContain('save ""');
  expect(() => expanded({ persistence: "disk" })).toThrow('spec.persistence: "disk" is not one of aof, rdb, none');
});

test("users are lines of their own with the key of their password", () => {
  const config = { ...complete, REDIS_PASSWORD_WEB: "x" };
  expect(expanded({ users: [{ name: "web", rules: "~web:* +@all" }] }, config).files.users_conf).toBe(
    "web REDIS_PASSWORD_WEB ~web:* +@all\n",
  );
});

test("copies outside of the machine are of the backups, of which a new one is made before", () => {
  expect(expanded().statefulset).not.toHaveProperty("backup");
  const { statefulset } = expanded({ backup: { every: "6h", target: "offsite" }, backups: { keep: 3, max_age: "2d" } });
  expect(statefulset?.backup).toEqual({
    ...{ every: "6h", target: "offsite", volumes: ["berth-data-cache-backups"] },
    pre: ["sh", "/berth/tools.sh", "job", "3", "172800"],
  });
});

const refused: [string, Record<string, unknown>, string][] = [
  ["the user that is there", { users: [{ name: "default" }] }, "spec.users[0].name: default is there already"],
  [
    "a command of copies that is ours",
    { backup: { pre: ["x"] } },
    "spec.backup.pre: is set by the plugin; leave it out",
  ],
  ["copies that are no object", { backup: true }, "spec.backup: expected an object"],
  ["a user twice", { users: [{ name: "a" }, { name: "a" }] }, 'spec.users[1].name: "a" is there twice'],
  ["a line break in rules", { users: [{ name: "a", rules: "+@all\nuser b on nopass" }] }, "spec.users[0].rules: "],
  ["a password in rules", { users: [{ name: "a", rules: "+@all >x" }] }, "spec.users[0].rules: "],
  ["a setting of ours", { settings: { requirepass: "x" } }, "spec.settings.requirepass: is set by the plugin"],
  ["two lines in a setting", { settings: { maxmemory: "1\nuser x" } }, "spec.settings.maxmemory: must be one line"],
];
for (const [what, spec, text] of refused) {
  test(`refused: ${what}`, () => expect(() => expanded(spec)).toThrow(text));
}

test("fewer replicas never take the primary away", () => {
  expect(() => expanded({ replicas: 1 }, { ...complete, REDIS_PRIMARY_ORDINAL: "1" })).toThrow("pod 1 is primary");
});
