import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { allReady, type BlockRig, blockRig, infoOf } from "./blocks.ts";
import { hang } from "./hang.ts";
import { waitFor } from "./wait.ts";
import { type Connection, connections, type Dial, type Writers, writers } from "./writers.ts";

type Config = Record<string, string>;

export interface Side {
  plugin: "pg" | "redis";
  block: Manifest;
  /** Prefix of the keys in the config. */
  key: string;
  /** Logs in at an address as an app does. */
  connect(address: string, config: Config): Promise<Connection>;
  /** Shell command for a container of an app: writes the number 0 to whichever of the hosts takes it. */
  writeByName(config: Config, hosts: string[]): string;
}

const ordinals = [0, 1, 2];

/** The engine asks other name servers about a pod that is down, and here none answers: glibc would wait for 10 seconds. */
export const quickLookUps = { RES_OPTIONS: "timeout:1 attempts:1" };

const rounds = Number(process.env.BERTH_TEST_ROUNDS ?? 1);

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
        spec: {
          image: side.block.spec.image,
          command: ["sh", "-c", "sleep 1000000"],
          env: quickLookUps,
          stop_grace: "0s",
        },
      };
      const { status, body } = await berth.apply(side.block, client);
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
      await berth.ready("statefulset", "data", "main", 180_000);
      await berth.ready("deployment", "shop", "client", 60_000);
      if (plugin === "pg") await berth.run("pg", "psql", ...place, "-U", "app", "-c", "create table t (n int)");
    });
    afterAll(async () => {
      servers.close();
      await berth?.close();
    });

    const config = async () => {
      const { body } = await berth.call("GET", "/config?scope=data&name=main");
      return (body.data as unknown as { vars: Record<string, string> }).vars;
    };
    const primary = async () => Number((await config())[`${key}_PRIMARY_ORDINAL`]);
    let vars: Config;
    /** The last test has left the cluster whole. */
    let isLeftWhole = false;
    /** The engine's API: its client is a process each time. */
    const engine = (method: "GET" | "POST", path: string) =>
      fetch(`http://localhost/containers/data-main.${path}`, {
        method,
        unix: berth.dockerHost.slice("unix://".length),
      });
    const lookUp = async (ordinal: number) => {
      const answer = await engine("GET", `${ordinal}/json`);
      type Networks = Record<string, { IPAddress: string }>;
      const { NetworkSettings } = (await answer.json()) as { NetworkSettings?: { Networks: Networks } };
      const [network] = Object.values(NetworkSettings?.Networks ?? {});
      if (!network?.IPAddress) throw new Error(`pod ${ordinal} does not run`);
      return network.IPAddress;
    };
    /** Clients that have lost the same server ask together. */
    const addressOf = shared(lookUp, 250);
    const dial: Dial = async (ordinal) => side.connect(await addressOf(ordinal), vars);
    const servers = connections(dial);
    const leading = async () => {
      const leads = ordinals.map((ordinal) => servers.ask(ordinal, (server) => server.leads()).catch(() => false));
      const found = await Promise.all(leads);
      return ordinals.filter((ordinal) => found[ordinal]);
    };
    const isWhole = () =>
      waitFor(
        "one primary that the config names, and two standbys",
        async () => {
          await allReady(berth, "data", "main");
          const seen = await config();
          if (seen[`${key}_PROMOTION`] !== undefined) return false;
          if ((await leading()).join() !== seen[`${key}_PRIMARY_ORDINAL`]) return false;
          // Asked last: it costs far more than the others.
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
        const found = await leading();
        if (found.length > 1) expect((await leading()).length).toBeLessThan(2);
        await Bun.sleep(100);
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
      vars = await config();
      if (!isLeftWhole) await isWhole();
      load = await writers(dial, ordinals);
    });
    /** Writes are acknowledged again, also for an app that connects by names. */
    const goesOn = async () => {
      await load.goOn();
      const hosts = ordinals.map((ordinal) => `main-${ordinal}.data`);
      const [client] = await berth.pods("shop", "client");
      const script = `(${side.writeByName(vars, hosts)}) >&2 && echo written`;
      const write = ["exec", String(client?.name), "sh", "-c", script];
      await waitFor("a write by name", () => berth.docker(write) === "written", 60_000);
    };
    afterEach(async () => {
      isLeftWhole = false;
      const acknowledged = await load.stop();
      await isWhole();
      isLeftWhole = true;
      const lost = await missing(acknowledged);
      console.log(`${name}: ${acknowledged.length} writes acknowledged, ${lost.length} lost`);
    });

    test("a promotion by name under write load works each time, and loses nothing", async () => {
      for (let round = 0; round < Math.min(rounds, 3); round += 1) {
        const target = ((await primary()) + 1) % 3;
        await watched(
          berth.run(plugin, plugin === "pg" ? "promote" : "failover", ...place, "--replica", String(target), "--yes"),
        );
        expect(await primary()).toBe(target);
        await goesOn();
      }
      expect(await missing(await load.stop())).toEqual([]);
    });

    test("a promotion that a kill of the server cut off is finished or undone by the next one, and loses nothing", async () => {
      for (const waitMs of rounds > 1 ? [0, 400, 1_500, 4_000] : [0, 1_500]) {
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
        await goesOn();
      }
      expect(await missing(await load.stop())).toEqual([]);
      const { stdout } = await berth.cli(["why", "data/main"]);
      expect(stdout).toContain("plugin.attend");
    });

    /** Keeps it from coming back before the time is up, as a crash loop does. */
    const crashLoop = (ordinal: number) => {
      const timer = setInterval(() => void engine("POST", `${ordinal}/kill`).catch(() => undefined), 300);
      return () => clearInterval(timer);
    };
    const replaced = (old: number) =>
      waitFor(
        "another pod to be primary",
        async () => Number((await config())[`${key}_PRIMARY_ORDINAL`]) !== old,
        180_000,
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
      await goesOn();
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
      await goesOn();
      const lost = await missing(await load.stop());
      if (plugin === "pg") expect(lost).toEqual([]);
    });

    test("a primary that hangs is stopped before another pod takes over", async () => {
      const old = await primary();
      expect(hang(berth.dockerHost, `data-main.${old}`)).toBe(true);
      await replaced(old);
      await isWhole();
      await goesOn();
      const lost = await missing(await load.stop());
      if (plugin === "pg") expect(lost).toEqual([]);
    });

    test("a primary that somebody stopped on purpose stays primary", async () => {
      const old = await primary();
      await berth.run("stop", `data/main.${old}`);
      await Bun.sleep(12_000);
      const seen = await config();
      expect(seen[`${key}_PRIMARY_ORDINAL`]).toBe(String(old));
      expect(seen[`${key}_PROMOTION`]).toBeUndefined();
      await berth.run("start", `data/main.${old}`);
      await isWhole();
    });
  });
}

/** One answer for everybody who asks the same within `forMs`. */
function shared<K, T>(ask: (key: K) => Promise<T>, forMs: number): (key: K) => Promise<T> {
  const answers = new Map<K, { answer: Promise<T>; since: number }>();
  return (key) => {
    const now = performance.now();
    const known = answers.get(key);
    if (known !== undefined && now - known.since < forMs) return known.answer;
    const answer = ask(key);
    answers.set(key, { answer, since: now });
    return answer;
  };
}
