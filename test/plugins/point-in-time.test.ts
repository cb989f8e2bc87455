import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressOf, answerOf, type BlockRig, blockRig, postgresImage } from "../support/blocks.ts";
import { waitFor } from "../support/wait.ts";

/** Restores of each timeline. Each is a server of its own. */
const restores = Number(process.env.BERTH_TEST_RESTORES ?? "1");
const writes = Number(process.env.BERTH_TEST_WRITES ?? "25");
setDefaultTimeout(480_000 + restores * 120_000 + writes * 1_000);
/** Between two looks at the target, which start rclone, or at all pods of a block. */
const pauseMs = 2_000;

/** A row that a client was told is there, by the clock of the test: nothing else was written from `from` to `to`. */
interface Written {
  id: number;
  from: number;
  to: number;
}

describe("postgres by point in time", () => {
  let berth: BlockRig;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-points."));
    berth = await blockRig();
    await berth.run("backup", "target", "add", "disk", join(folder, "copies"), "--every", "1d");
    const spec = { image: postgresImage, replicas: 2, point_in_time: { keep: "3d" }, env: { PG_OUTBOX_KIB: 12_000 } };
    const { status, body } = await berth.apply({ kind: "postgres", scope: "data", name: "main", spec });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    await berth.ready("statefulset", "data", "main", 120_000);
  });
  afterAll(async () => {
    await berth?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const configOf = async (name: string) => {
    const { body } = await berth.call("GET", `/config?scope=data&name=${name}`);
    return (body.data as unknown as { vars: Record<string, string> }).vars;
  };
  const login = async (name: string) => {
    const { POSTGRES_PASSWORD: password = "", PG_PRIMARY_ORDINAL: primary = "0" } = await configOf(name);
    const hostname = await addressOf(berth, `data-${name}.${primary}`);
    return new SQL({ adapter: "postgres", hostname, port: 5432, username: "app", password, database: "app", max: 1 });
  };
  const ranges = async () => {
    const { body } = await berth.call("GET", "/backups/databases?scope=data&name=main");
    return (body.data as unknown as { ranges: { from: string; to: string }[] } | undefined)?.ranges ?? [];
  };
  const lastTime = async () => Date.parse((await ranges()).at(-1)?.to ?? "");

  const write = async (server: SQL, written: Written[], count: number) => {
    for (let left = count; left > 0; left -= 1) {
      const id = written.length + 1;
      await server`insert into t values (${id}, ${"x".repeat(Math.floor(Math.random() * 20_000))})`;
      const from = Date.now() + 1;
      await Bun.sleep(20 + Math.random() * 300);
      written.push({ id, from, to: Date.now() - 1 });
    }
  };
  const restored = async (time: string, name: string) => {
    const said = await berth.run("pg", "restore", "data/main", "--at", time, "--as", name, "--yes");
    expect(said).toContain(`data/${name} holds what was committed by ${time}`);
    const server = await login(name);
    try {
      const rows = (await server`select id from t order by id`) as { id: number }[];
      return rows.map(({ id }) => id);
    } finally {
      await server.close({ timeout: 0 });
      await berth.run("delete", "postgres", `data/${name}`, "--prune", "--yes");
    }
  };

  test("a restore at any time has exactly what was committed by then, before and after a promotion and a primary that died", async () => {
    await waitFor("the first base backup at the target", async () => (await ranges()).length > 0, 120_000, pauseMs);
    const written: Written[] = [];
    const firsts: number[] = [];
    const writeSome = async (count: number, before?: (server: SQL) => Promise<unknown>) => {
      firsts.push(written.length);
      const server = await login("main");
      await before?.(server);
      await write(server, written, count);
      await server.close({ timeout: 0 });
    };
    await writeSome(writes, (server) => server`create table t (id int primary key, text text)`.execute());
    await berth.run("pg", "promote", "data/main", "--yes");
    await berth.ready("statefulset", "data", "main", 120_000);
    await writeSome(writes);
    const { PG_PRIMARY_ORDINAL: primary = "0" } = await configOf("main");
    berth.docker(["kill", "-s", "KILL", `data-main.${primary}`]);
    await berth.run("pg", "promote", "data/main", "--yes");
    await writeSome(10);

    const committedAt = Date.now();
    await waitFor("the last write at the target", async () => (await lastTime()) > committedAt, 120_000, pauseMs);
    const lag = Date.now() - committedAt;
    console.log(`listed at the target ${lag} ms after the commit, with the asking`);
    for (const [era, low] of firsts.entries()) {
      const high = firsts[era + 1] ?? written.length;
      // Of the primary that died, what it wrote last.
      const least = era === 1 ? high - 3 : low;
      for (let round = 0; round < restores; round += 1) {
        const one = written[least + Math.floor(Math.random() * (high - least))];
        if (one === undefined) throw new Error("nothing was written");
        const at = Math.round(one.from + Math.random() * Math.max(0, one.to - one.from));
        const ids = await restored(new Date(at).toISOString(), `copy-${era}-${round}`);
        expect(ids).toEqual(written.slice(0, one.id).map(({ id }) => id));
      }
    }
  });

  test("a time outside of the range is answered with the range, and nothing is made", async () => {
    const [range] = await ranges();
    const said = await berth.refused("pg", "restore", "data/main", "--at", "2020-01-01 10:00", "--yes");
    expect(said).toContain(`choose a time from ${range?.from} to `);
    expect(await answerOf(berth, "pg", "times", ["data/main"])).toContain(`any time from ${range?.from} to `);
    const { body } = await berth.call("GET", "/apply?kind=postgres");
    expect((body.data as unknown as unknown[]).length).toBe(1);
  });

  test("with the target away all writes succeed, and a time in the gap is refused with its two ends", async () => {
    await berth.ready("statefulset", "data", "main", 120_000);
    const copies = join(folder, "copies");
    renameSync(copies, `${copies}.away`);
    writeFileSync(copies, "");
    const server = await login("main");
    await server`create table big (text text)`;
    for (let round = 0; round < 4; round += 1) {
      await server`insert into big select md5(random()::text) || md5(random()::text) from generate_series(1, 100000)`;
    }
    await waitFor(
      "WAL to be dropped",
      async () => (await answerOf(berth, "pg", "info", ["data/main"])).includes("WAL IS MISSING since "),
      120_000,
      pauseMs,
    );
    // The gap begins at a whole second.
    await Bun.sleep(2_000);
    const inGap = new Date().toISOString();
    await server`insert into big values ('last')`;
    await server.close({ timeout: 0 });
    rmSync(copies);
    renameSync(`${copies}.away`, copies);
    await waitFor(
      "a new base backup",
      async () => {
        if ((await ranges()).some(({ from }) => from > inGap)) return true;
        const { PG_PRIMARY_ORDINAL: ordinal = "0" } = await configOf("main");
        const logs = berth.docker(["logs", "--tail", "20", `data-main.${ordinal}`]);
        throw new Error(`${await answerOf(berth, "pg", "info", ["data/main"])}\n${logs}`);
      },
      300_000,
      pauseMs,
    );
    const all = await ranges();
    const after = all.findIndex(({ from }) => from > inGap);
    const before = all[after - 1];
    const refusal = await berth.refused("pg", "restore", "data/main", "--at", inGap, "--yes");
    expect(refusal).toContain(`WAL is missing from ${before?.to} to ${all[after]?.from}`);
    // On a busy machine WAL is dropped once more before what waited is shipped; then one more base backup ends that gap.
    await waitFor(
      "no WAL to be missing",
      async () => {
        const said = await answerOf(berth, "pg", "info", ["data/main"]);
        if (!said.includes("WAL IS MISSING")) return true;
        throw new Error(said);
      },
      300_000,
      pauseMs,
    );
  });

  test("a restore in place leads to a timeline of its own, and so does its undo", async () => {
    await berth.ready("statefulset", "data", "main", 120_000);
    const written: Written[] = [];
    const writeSome = async (count: number, before?: (server: SQL) => Promise<unknown>) => {
      const server = await login("main");
      await before?.(server);
      await write(server, written, count);
      await server.close({ timeout: 0 });
    };
    const shipped = async () => {
      const committedAt = Date.now();
      await waitFor("the last write at the target", async () => (await lastTime()) > committedAt, 120_000, pauseMs);
    };
    const timeOf = (one: Written | undefined) => new Date(one?.from ?? 0).toISOString();
    const upTo = (id: number) => Array.from({ length: id }, (_, at) => at + 1);
    const rows = async () => {
      await berth.ready("statefulset", "data", "main", 120_000);
      const server = await login("main");
      const found = (await server`select id from t order by id`) as { id: number }[];
      await server.close({ timeout: 0 });
      return found.map(({ id }) => id);
    };
    // As another libc would leave it: the index is read in another order than it was written in.
    const odd = "create table odd as select generate_series(1, 1000) as n; create index odd_n on odd (n);";
    const sql = `${odd} update pg_index set indoption = '3' where indexrelid = 'odd_n'::regclass`;
    await answerOf(berth, "pg", "psql", ["data/main", "-c", sql]);
    await writeSome(10, (server) => server`truncate t`.execute());
    await shipped();
    const inPlace = (time: string) => ["pg", "restore", "data/main", "--at", time, "--replace", "--yes"];
    expect(await berth.refused(...inPlace("2020-01-01 10:00"))).toContain("choose a time from ");
    const said = await berth.run(...inPlace(timeOf(written[4])));
    expect(said).toContain(`data/main holds what was committed by ${timeOf(written[4])}; app: indexes that are not in`);
    expect(said).toMatch(
      /REINDEX them: public\.odd_n: item order invariant violated .*; what it held until now is kept/,
    );
    expect(await rows()).toEqual(upTo(5));
    const [, , left] = written.splice(5);
    await writeSome(4);
    await shipped();
    // After it, and before it on the timeline that it left.
    expect(await restored(timeOf(written[6]), "after-it")).toEqual(upTo(7));
    expect(await restored(timeOf(left), "before-it")).toEqual(upTo(8));

    expect(await berth.run("pg", "restore", "data/main", "--undo", "--yes")).toContain(
      "before its last restore in place",
    );
    expect(await rows()).toEqual(upTo(10));
    written.length = 10;
    await writeSome(2);
    await shipped();
    // As another image would have it.
    const { PG_PRIMARY_ORDINAL: ordinal = "0" } = await configOf("main");
    const libc = "cd /usr/local/bin && printf '#!/bin/sh\\necho glibc 9.9\\n' >getconf && chmod 755 getconf";
    berth.docker(["exec", "-u", "0", `data-main.${ordinal}`, "sh", "-c", `mkdir -p /usr/local/bin && ${libc}`]);
    const refused = await berth.refused(...inPlace(timeOf(written[10])));
    expect(refused).toMatch(/sorts text in another way .*then libc .* now libc 9\.9 .* restore with --reindex/s);
    const again = await berth.run(...inPlace(timeOf(written[10])), "--reindex");
    expect(again).toContain(`what was committed by ${timeOf(written[10])}; its indexes are in order;`);
    expect(await rows()).toEqual(upTo(11));
  });
});
