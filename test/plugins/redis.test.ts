import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RedisClient } from "bun";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import {
  addressOf,
  allReady,
  answerOf,
  type BlockRig,
  backupsOf,
  blockRig,
  infoOf,
  redisImage,
} from "../support/blocks.ts";
import { goOn, hang } from "../support/hang.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

/** Each test leaves the cluster whole: whichever pod is primary, the other follows. */
describe("redis on a real server", () => {
  const block: Manifest = {
    kind: "redis",
    scope: "data",
    name: "cache",
    spec: {
      image: redisImage,
      replicas: 2,
      users: [{ name: "web", rules: "~web:* +@all -@dangerous" }],
      backups: { keep: 3, schedule: "@yearly" },
    },
  };
  /** Its config is all that is looked at: test/plugins/stack.test.ts has an app that runs. */
  const linked = (name: string): Manifest => ({ ...idle(name), spec: { ...idle(name).spec, replicas: 0 } });
  const idle = (name: string): Manifest => ({
    kind: "deployment",
    scope: "shop",
    name,
    spec: { image: redisImage, command: ["sh", "-c", "sleep 1000000"], stop_grace: "0s" },
  });
  let berth: BlockRig;
  beforeAll(async () => {
    berth = await blockRig();
    const { status, body } = await berth.apply(block, linked("web"), idle("client"));
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    await berth.ready("statefulset", "data", "cache", 120_000);
  });
  afterAll(() => berth?.close());

  const cli = async (...words: string[]) =>
    (await answerOf(berth, "redis", "cli", ["data/cache", "--", ...words])).trim();
  const vars = async (scope: string, name: string) => {
    const { body } = await berth.call("GET", `/config?scope=${scope}&name=${name}`);
    return (body.data as unknown as { vars: Record<string, string> }).vars;
  };
  const primary = async () => Number((await vars("data", "cache")).REDIS_PRIMARY_ORDINAL);
  /** Whether a write to the primary reaches a standby, asked over the network. */
  const isFollowed = async () => {
    const { REDIS_PASSWORD: password } = await vars("data", "cache");
    const address = await addressOf(berth, `data-cache.${await primary()}`);
    const url = `redis://default:${password}@${address}:6379`;
    const server = new RedisClient(url, { autoReconnect: false, enableOfflineQueue: false, connectionTimeout: 2_000 });
    try {
      await server.connect();
      return (await server.send("WAIT", ["1", "100"])) === 1;
    } finally {
      server.close();
    }
  };
  const isWhole = () =>
    waitFor(
      "a primary and a standby that follows it",
      async () => {
        await allReady(berth, "data", "cache");
        if (!(await isFollowed())) return false;
        // Asked last: it costs far more than the others.
        const { pods } = await infoOf(berth, "redis", "data/cache");
        const roles = pods
          .map(({ role }) => role)
          .sort()
          .join();
        return roles === "primary,standby" && pods.every(({ ready }) => ready);
      },
      120_000,
    );
  const config = () => vars("shop", "web");
  /** What a client says that connects as an app does, from another pod. */
  const connect = async (url: string, ...words: string[]) => {
    const [pod] = await berth.pods("shop", "client");
    const call = [
      "exec",
      String(pod?.name),
      "sh",
      "-c",
      'redis-cli --no-auth-warning -u "$0" "$@" 2>&1 || true',
      url,
      ...words,
    ];
    return berth.docker(call).trim();
  };

  test("a server that does not listen is neither primary nor standby", () => {
    const ask = ["exec", "-e", "REDIS_PORT=1", "data-cache.0", "sh", "-c", "sh /berth/tools.sh status || echo failed"];
    expect(berth.docker(ask).trim()).toMatch(/failed$/);
    expect(berth.docker(ask)).not.toContain("role=");
  });

  test("a block that comes up for the first time is no failover, however long that takes", async () => {
    const fresh = (name: string, spec: Record<string, unknown>): Manifest => {
      return { kind: "redis", scope: "fresh", name, spec: { image: redisImage, stop_grace: "0s", ...spec } };
    };
    const blocks = [fresh("one", {}), fresh("two", { replicas: 2, failover: { after: "5s" } })];
    const { status, body } = await berth.apply(...blocks);
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    for (const name of ["one", "two"]) {
      await waitFor(`the first pod of ${name} to hang`, () => hang(berth.dockerHost, `fresh-${name}.0`), 60_000);
    }
    // Longer than the 5s after which a pod that was ready once is looked after.
    await Bun.sleep(9_000);
    for (const name of ["one", "two"]) {
      goOn(berth.dockerHost, `fresh-${name}.0`);
      await berth.ready("statefulset", "fresh", name, 120_000);
      expect(await vars("fresh", name)).toMatchObject({ REDIS_PRIMARY_ORDINAL: "0", REDIS_EPOCH: "1" });
      const { stdout } = await berth.cli(["why", `fresh/${name}`]);
      expect(stdout).not.toContain("attend");
      await berth.run("delete", "redis", `fresh/${name}`, "--yes", "--prune");
    }
  });

  test("expose refuses a port that something else holds, names the holder, and tells who reaches the server", async () => {
    const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
    const taken = String(probe.port);
    const free = () => {
      const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
      const { port } = server;
      void server.stop(true);
      return String(port);
    };
    const [published, own] = [free(), free()];
    const spec = { image: redisImage, stop_grace: "0s" };
    const holder = { ...idle("holder"), spec: { ...idle("holder").spec, ports: [`127.0.0.1:${published}:6379`] } };
    try {
      const block = { kind: "redis", scope: "open", name: "one", spec };
      const { status, body } = await berth.apply(block, holder);
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
      await berth.ready("statefulset", "open", "one", 120_000);
      await berth.ready("deployment", "shop", "holder", 60_000);
      const expose = ["redis", "expose", "open/one", "--yes", "--port"];
      expect(await berth.refused(...expose, taken)).toContain(`host port ${taken} is held by process ${process.pid}`);
      expect(await berth.refused(...expose, published)).toContain(`is held by container "shop-holder`);
      expect(await berth.run("redis", "unexpose", "open/one")).toBe("open/one is not exposed");
      expect(await berth.run("redis", "info", "open/one")).not.toContain("exposed:");
      const told = await berth.run(...expose, own, "--address", "127.0.0.1");
      expect(told).toContain(`open/one is reached on 127.0.0.1:${own}, from this machine only`);
      await berth.ready("statefulset", "open", "one", 120_000);
      expect(await berth.run("redis", "info", "open/one")).toContain(
        `exposed: 127.0.0.1:${own}, from this machine only`,
      );
      // What the block itself holds is its own.
      await berth.run(...expose, own);
      expect(await berth.run("redis", "unexpose", "open/one")).toContain(`no longer reached on 0.0.0.0:${own}`);
    } finally {
      await probe.stop(true);
      await berth.cli(["delete", "redis", "open/one", "--yes", "--prune"]);
      await berth.cli(["delete", "deployment", "shop/holder", "--yes"]);
    }
  });

  test("the block became a server with a standby", async () => {
    await isWhole();
    await cli("set", "kept", "1");
    expect((await infoOf(berth, "redis", "data/cache")).pods.map(({ role }) => role)).toEqual(["primary", "standby"]);
  });

  test("query runs commands that the server calls read-only, and no others", async () => {
    const query = (...words: string[]) => berth.run("redis", "query", "data/cache", "--", ...words);
    await berth.run("redis", "cli", "data/cache", "--", "set", "greeting", "hello there");
    expect(await query("get", "greeting")).toBe("hello there");
    expect(await query("object", "encoding", "greeting")).toBe("embstr");
    const refused = async (...words: string[]) => {
      const { body } = await berth.call("POST", "/plugin/redis/query", { args: ["data/cache", "--", ...words] });
      return body.error;
    };
    const forbidden = [
      ["set", "a", "1"],
      ["flushall"],
      ["config", "get", "*"],
      ["acl", "list"],
      ["eval", "return 1", "0"],
    ];
    for (const words of [...forbidden, ["sort", "a", "store", "b"], ["xread", "block", "0", "streams", "s", "$"]]) {
      expect([words, await refused(...words)]).toEqual([
        words,
        expect.stringContaining("not a command that only reads"),
      ]);
    }
    expect(await refused("keys", "*")).toContain("use SCAN");
    expect(await refused("--eval", "x")).toContain("not the name of a command");
    expect(await refused("nothing")).toContain("knows no command");
    await berth.run("redis", "cli", "data/cache", "--", "del", "greeting");
  });

  test("a linked app logs in over the network, as a user with its own keys where it asks for that", async () => {
    await berth.run("redis", "link", "data/cache", "shop/web");
    await berth.run("redis", "link", "data/cache", "shop/web", "--user", "web", "--as", "WEB_URL");
    const { REDIS_URL = "", WEB_URL = "" } = await config();
    expect(await connect(REDIS_URL, "get", "kept")).toBe("1");
    expect(await connect(WEB_URL, "set", "web:a", "1")).toBe("OK");
    expect(await connect(WEB_URL, "get", "kept")).toContain("NOPERM");
    expect(await connect(WEB_URL, "flushall")).toContain("NOPERM");
    expect(await connect(REDIS_URL.replace(/:[0-9a-f]{64}@/, ":wrong@"), "get", "kept")).toContain("WRONGPASS");
  });

  test("new passwords reach every pod without a restart, and containers of before know them when they start again", async () => {
    const old = await config();
    expect(await berth.run("redis", "new-password", "data/cache")).toContain(
      "default has a new password; 1 linked app",
    );
    expect(await berth.run("redis", "new-password", "data/cache", "--user", "web")).toContain("web has a new password");
    const fresh = await config();
    expect(await connect(fresh.REDIS_URL ?? "", "get", "kept")).toBe("1");
    expect(await connect(old.REDIS_URL ?? "", "get", "kept")).toContain("WRONGPASS");
    expect(await connect(fresh.WEB_URL ?? "", "get", "web:a")).toBe("1");
    await isWhole();
    for (const ordinal of [1, 0]) berth.docker(["restart", `data-cache.${ordinal}`]);
    await isWhole();
    expect(await connect(fresh.WEB_URL ?? "", "get", "web:a")).toBe("1");
  });

  test("a failover loses nothing, and the container of before knows its place when it starts again", async () => {
    await cli("set", "planned", "yes");
    const old = await primary();
    expect(await berth.run("redis", "failover", "data/cache", "--yes")).toContain(`pod ${old} follows it`);
    await isWhole();
    expect([await primary(), await cli("get", "planned")]).toEqual([1 - old, "yes"]);
    berth.docker(["restart", `data-cache.${1 - old}`]);
    await isWhole();
    expect(await connect((await config()).REDIS_URL ?? "", "get", "planned")).toBe("yes");
  });

  test("a primary that is killed is replaced, and comes back as a standby", async () => {
    const old = await primary();
    berth.docker(["kill", `data-cache.${old}`]);
    await berth.run("redis", "failover", "data/cache", "--yes");
    await isWhole();
    expect([await primary(), await cli("get", "planned")]).toEqual([1 - old, "yes"]);
  });

  test("a primary whose volume is gone does not empty the others", async () => {
    const old = await primary();
    await berth.call("DELETE", `/resource?scope=data&name=cache&ordinal=${old}&prune=true`);
    await waitFor(
      "the pod to refuse",
      async () => {
        const { stdout } = await berth.cli(["logs", `data/cache.${old}`]);
        return stdout.includes("this volume is empty and another pod has the data; make that one primary");
      },
      60_000,
    );
    await berth.run("redis", "failover", "data/cache", "--force", "--yes");
    await isWhole();
    expect(await cli("get", "planned")).toBe("yes");
  });

  test("a backup takes the place of the keys there are, which are a backup of their own then", async () => {
    expect(await berth.run("redis", "backup", "data/cache")).toContain("was restored once and counted; 3 are kept");
    const [id = ""] = await backupsOf(berth, "redis", "data/cache");
    await cli("set", "later", "1");
    await cli("del", "planned");
    const message = await berth.run("redis", "restore", "data/cache", id, "--yes");
    expect([await cli("get", "planned"), await cli("exists", "later")]).toEqual(["yes", "0"]);
    await isWhole();
    // What a server that dies right now reads when it starts again is what was restored.
    berth.docker(["kill", `data-cache.${await primary()}`]);
    await isWhole();
    expect([await cli("get", "planned"), await cli("exists", "later")]).toEqual(["yes", "0"]);
    const before = /what was there before is backup (\S+)$/.exec(message)?.[1];
    await berth.run("redis", "restore", "data/cache", String(before), "--yes");
    expect([await cli("exists", "planned"), await cli("get", "later")]).toEqual(["0", "1"]);
    await isWhole();
  });

  test("a backup that cannot be restored displaces none that can, and users that are gone are named", async () => {
    const checks = async () => {
      const list = JSON.parse(await answerOf(berth, "redis", "backups", ["data/cache", "-o", "json"]));
      return (list as { check: string; reason?: string }[]).map(({ check }) => check);
    };
    await cli("-n", "3", "set", "elsewhere", "1");
    await cli("acl", "setuser", "byhand", "on");
    await berth.run("redis", "backup", "data/cache", "--keep", "1");
    expect((await checks())[0]).toBe("passed");
    const [good = ""] = await backupsOf(berth, "redis", "data/cache");
    await berth.run("redis", "backup", "data/cache", "--no-check");
    const [bad = ""] = await backupsOf(berth, "redis", "data/cache");
    const spoil = `cd /backups/${bad} && echo 99 >keys && rm SHA256SUMS && sha256sum * >.sums && mv .sums SHA256SUMS`;
    berth.docker(["exec", `data-cache.${await primary()}`, "sh", "-c", spoil]);
    expect(await berth.refused("redis", "backups:check", "data/cache", bad)).toContain("it holds 99 keys and");
    expect(await berth.run("redis", "backups", "data/cache")).toMatch(
      new RegExp(`^${bad} .* failed: it holds 99`, "m"),
    );
    await berth.run("redis", "backups:prune", "data/cache", "--keep", "1", "--yes");
    expect(await backupsOf(berth, "redis", "data/cache")).toEqual([bad, good]);
    await cli("acl", "deluser", "byhand");
    await cli("-n", "3", "del", "elsewhere");
    const told = await berth.run("redis", "restore", "data/cache", good, "--yes");
    expect(told).toContain("users of then that the server does not have now, add them to the block: byhand");
    expect(await cli("-n", "3", "get", "elsewhere")).toBe("1");
    await cli("-n", "3", "del", "elsewhere");
    await isWhole();
  });

  test("a dump.rdb from elsewhere becomes a backup, and is restored like one", async () => {
    const folder = mkdtempSync("/var/tmp/berth-import.");
    const plain = Bun.serve({ port: 0, fetch: () => new Response(Bun.file(join(folder, "dump.rdb"))) });
    try {
      const [id = ""] = await backupsOf(berth, "redis", "data/cache");
      await berth.cli(["redis", "backups:download", "data/cache", id, "--to", "dump.rdb"], { cwd: folder });
      const told = await berth.run("redis", "backups:import", "data/cache", `http://127.0.0.1:${plain.port}/x`);
      const imported = /^backup (\S+)/.exec(told)?.[1] ?? "";
      expect(told).toContain(`; restore it with: restore data/cache ${imported}`);
      expect(await backupsOf(berth, "redis", "data/cache")).toContain(imported);
      await berth.run("redis", "restore", "data/cache", imported, "--yes");
      await isWhole();
    } finally {
      await plain.stop(true);
      rmSync(folder, { recursive: true });
    }
    const text = await berth.run("redis", "get-conf", "data/cache");
    expect(text).toContain("appendonly yes");
    expect(text).not.toMatch(/requirepass|[0-9a-f]{64}/);
  });

  test("what is damaged or unknown is refused and changes nothing", async () => {
    await cli("set", "kept", "1");
    const [id = ""] = await backupsOf(berth, "redis", "data/cache");
    berth.docker(["exec", `data-cache.${await primary()}`, "sh", "-c", `echo x >> /backups/${id}/dump.rdb`]);
    const restore = (word: string) => berth.refused("redis", "restore", "data/cache", word, "--yes");
    expect(await restore(id)).toContain("is damaged: its files are not what was written");
    expect(await restore("20200101T000000Z")).toContain('no backup "20200101T000000Z"');
    expect(await cli("get", "kept")).toBe("1");
  });

  test("the schedule takes backups by itself", async () => {
    const before = await backupsOf(berth, "redis", "data/cache");
    expect(await berth.run("cron", "run", "data/cache.backup")).toContain("restoring it to see that it can be");
    const after = await backupsOf(berth, "redis", "data/cache");
    expect(after.filter((id) => !before.includes(id))).toHaveLength(1);
    expect(after.length).toBeLessThanOrEqual(3);
  });

  test("two backups that are taken at the same time are two", async () => {
    const told = await Promise.all([1, 2].map(() => berth.run("redis", "backup", "data/cache")));
    for (const text of told) expect(text).toContain("was restored once and counted");
    const ids = told.map((text) => /^backup (\S+)/.exec(text)?.[1] ?? "").sort();
    expect(new Set(ids).size).toBe(2);
    expect((await backupsOf(berth, "redis", "data/cache")).slice(0, 2)).toEqual(ids.reverse());
  });

  test("help of what is destructive asks nothing and does nothing", async () => {
    const before = await primary();
    expect(await berth.run("redis", "failover", "-h")).toContain("berth redis:failover");
    expect(await berth.run("redis", "failover", "-h", "--yes")).toContain("failover SCOPE/NAME [--replica N]");
    expect(await primary()).toBe(before);
  });

  test("unlinked, the app has no URL any more", async () => {
    await berth.run("redis", "unlink", "data/cache", "shop/web");
    expect(await config()).toEqual({});
  });
});
