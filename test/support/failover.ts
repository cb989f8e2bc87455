import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { type BlockRig, blockRig, infoOf } from "./blocks.ts";
import { hang } from "./hang.ts";
import { waitFor } from "./wait.ts";
import { type Writers, writers } from "./writers.ts";

export interface Side {
  plugin: "pg" | "redis";
  block: Manifest;
  /** Prefix of the keys in the config. */
  key: string;
  /** Statement in a pod whose answer says whether it takes writes. */
  leads: string;
  answer: string;
}

/** The tests of both plugins: one primary, whatever dies. */
export function failoverTests(name: string, side: Side): void {
  describe(`${name}: one primary, whatever dies`, () => {
    const { plugin, key } = side;
    const place = ["data/main"] as const;
    let berth: BlockRig;
    let load: Writers;
    beforeAll(async () => {
      berth = await blockRig();
      const client: Manifest = {
        kind: "deployment",
        scope: "shop",
        name: "client",
        spec: { image: side.block.spec.image, command: ["sh", "-c", "sleep 1000000"], stop_grace: "0s" },
      };
      const { status, body } = await berth.apply(side.block, client);
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
      await berth.ready("statefulset", "data", "main", 180_000);
      await berth.ready("deployment", "shop", "client", 60_000);
      if (plugin === "pg") await berth.run("pg", "psql", ...place, "-U", "app", "-c", "create table t (n int)");
    });
    afterAll(() => berth?.close());

    const config = async () => {
      const { body } = await berth.call("GET", "/config?scope=data&name=main");
      return (body.data as unknown as { vars: Record<string, string> }).vars;
    };
    const primary = async () => (await infoOf(berth, plugin, "data/main")).primary;
    const leading = () =>
      [0, 1, 2].filter((ordinal) => {
        const asked = Bun.spawnSync([
          "docker",
          "-H",
          berth.dockerHost,
          "exec",
          `data-main.${ordinal}`,
          "sh",
          "-c",
          side.leads,
        ]);
        return asked.stdout.toString().trim() === side.answer;
      });
    const isWhole = () =>
      waitFor(
        "one primary that the config names, and two standbys",
        async () => {
          const { pods, primary: named } = await infoOf(berth, plugin, "data/main");
          const roles = pods
            .map(({ role }) => role)
            .sort()
            .join();
          const { [`${key}_PROMOTION`]: note } = await config();
          if (roles !== "primary,standby,standby" || note !== undefined || !pods.every(({ ready }) => ready)) {
            throw new Error(JSON.stringify({ roles, note, pods }));
          }
          return pods.find(({ role }) => role === "primary")?.ordinal === named;
        },
        180_000,
      );
    /** Looks at every pod again and again; fails where two take writes at the same time. */
    const watched = async <T>(work: Promise<T>): Promise<T> => {
      let isOver = false;
      void work.finally(() => (isOver = true)).catch(() => undefined);
      while (!isOver) {
        const found = leading();
        if (found.length > 1) expect(leading()).toHaveLength(1);
        await Bun.sleep(300);
      }
      return work;
    };
    const missing = async (acknowledged: number[]) => {
      const text =
        plugin === "pg"
          ? await berth.run("pg", "psql", ...place, "-c", "select n from t", "--", "-At")
          : await berth.run("redis", "cli", ...place, "--", "smembers", "t");
      const there = new Set(text.split(/\s+/).map(Number));
      return acknowledged.filter((n) => !there.has(n));
    };
    beforeEach(async () => {
      await isWhole();
      const vars = await config();
      const hosts = [0, 1, 2].map((ordinal) => `main-${ordinal}.data`);
      const write =
        plugin === "pg"
          ? `PATH=$(echo /usr/lib/postgresql/*/bin):$PATH psql -XAtqw 'postgres://app:${vars.POSTGRES_PASSWORD}@${hosts.map((host) => `${host}:5432`).join(",")}/app?target_session_attrs=read-write&connect_timeout=2' -c "insert into t values ($n)" >/dev/null 2>&1`
          : `for host in ${hosts.join(" ")}; do [ "$(REDISCLI_AUTH=${vars.REDIS_PASSWORD} timeout 2 redis-cli --no-auth-warning -h $host sadd t $n 2>/dev/null)" = 1 ] && break; done`;
      const [container = ""] = berth
        .docker(["ps", "--filter", "name=shop-client", "--format", "{{.Names}}"])
        .trim()
        .split("\n");
      load = await writers(berth, { container, write });
    });
    afterEach(async () => {
      const acknowledged = await load.stop();
      await isWhole();
      const lost = await missing(acknowledged);
      console.log(`${name}: ${acknowledged.length} writes acknowledged, ${lost.length} lost`);
    });

    test("a promotion by name under write load works each time, and loses nothing", async () => {
      for (let round = 0; round < 3; round += 1) {
        const target = ((await primary()) + 1) % 3;
        await watched(
          berth.run(plugin, plugin === "pg" ? "promote" : "failover", ...place, "--replica", String(target), "--yes"),
        );
        expect(await primary()).toBe(target);
        await load.goOn();
      }
      expect(await missing(await load.stop())).toEqual([]);
    });

    test("a promotion that a kill of the server cut off is finished or undone by the next one, and loses nothing", async () => {
      for (const waitMs of [0, 400, 1_500, 4_000]) {
        const target = ((await primary()) + 1) % 3;
        const promoting = berth.cli([
          plugin,
          plugin === "pg" ? "promote" : "failover",
          ...place,
          "--replica",
          String(target),
          "--yes",
        ]);
        await waitFor("the promotion to begin", async () => (await config())[`${key}_PROMOTION`] !== undefined);
        await Bun.sleep(waitMs);
        await berth.stop("SIGKILL");
        await promoting;
        await berth.start();
        await watched(isWhole());
        await load.goOn();
      }
      expect(await missing(await load.stop())).toEqual([]);
      const { stdout } = await berth.cli(["why", "data/main"]);
      expect(stdout).toContain("plugin.attend");
    });

    /** Keeps it from coming back before the time is up, as a crash loop does. */
    const crashLoop = (ordinal: number) => {
      const name = `data-main.${ordinal}`;
      const timer = setInterval(() => {
        Bun.spawn(["docker", "-H", berth.dockerHost, "kill", name], { stdout: "ignore", stderr: "ignore" });
      }, 300);
      return () => clearInterval(timer);
    };
    const replaced = (old: number) =>
      waitFor(
        "another pod to be primary",
        async () => Number((await config())[`${key}_PRIMARY_ORDINAL`]) !== old,
        120_000,
      );

    test("a primary that keeps dying is replaced by itself", async () => {
      const old = await primary();
      const heal = crashLoop(old);
      try {
        await watched(replaced(old));
      } finally {
        heal();
      }
      await watched(isWhole());
      await load.goOn();
      const lost = await missing(await load.stop());
      if (plugin === "pg") expect(lost).toEqual([]);
      const { stdout } = await berth.cli(["why", "data/main"]);
      expect(stdout).toContain("failover: pod");
    });

    test("the same, with the server killed in the middle of it", async () => {
      const old = await primary();
      const heal = crashLoop(old);
      try {
        await waitFor("the failover to begin", async () => (await config())[`${key}_PROMOTION`] !== undefined, 120_000);
        await berth.stop("SIGKILL");
        await berth.start();
        await watched(replaced(old));
      } finally {
        heal();
      }
      await watched(isWhole());
      await load.goOn();
      const lost = await missing(await load.stop());
      if (plugin === "pg") expect(lost).toEqual([]);
    });

    test("a primary that hangs is stopped before another pod takes over", async () => {
      const old = await primary();
      expect(hang(berth.dockerHost, `data-main.${old}`)).toBe(true);
      await replaced(old);
      await isWhole();
      await load.goOn();
      const lost = await missing(await load.stop());
      if (plugin === "pg") expect(lost).toEqual([]);
    });

    test("a primary that somebody stopped on purpose stays primary", async () => {
      const old = await primary();
      await berth.run("stop", `data/main.${old}`);
      await Bun.sleep(12_000);
      expect((await config())[`${key}_PRIMARY_ORDINAL`]).toBe(String(old));
      await berth.run("start", `data/main.${old}`);
      await isWhole();
    });
  });
}
