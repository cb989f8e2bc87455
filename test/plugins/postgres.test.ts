import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
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
  postgresImage,
} from "../support/blocks.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

/** Each test leaves the cluster whole: whichever pod is primary, the other two follow. */
describe("postgres on a real server", () => {
  const spec = {
    image: postgresImage,
    replicas: 3,
    extensions: ["pgcrypto"],
    settings: { max_connections: 40 },
    backups: { keep: 2, schedule: "@yearly" },
  };
  const block = (more: object = {}): Manifest => ({
    kind: "pg",
    scope: "data",
    name: "main",
    spec: { ...spec, ...more },
  });
  const spare = { image: postgresImage, command: ["sh", "-c", "sleep 1000000"], stop_grace: "0s" };
  /** Never rolled: where the tests connect from. */
  const client: Manifest = { kind: "deployment", scope: "shop", name: "client", spec: spare };
  /** Its config is all that is looked at: test/plugins/stack.test.ts has an app that runs. */
  const app: Manifest = { ...client, name: "web", spec: { ...spare, replicas: 0 } };
  let berth: BlockRig;
  beforeAll(async () => {
    berth = await blockRig();
    const { status, body } = await berth.apply(block(), app, client);
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    await berth.ready("statefulset", "data", "main", 120_000);
  });
  afterAll(() => berth?.close());

  const sql = async (query: string, ...more: string[]) =>
    (await answerOf(berth, "pg", "psql", ["data/main", "-c", query, ...more, "--", "-At"])).trim();
  const config = async (scope: string, name: string) => {
    const { body } = await berth.call("GET", `/config?scope=${scope}&name=${name}`);
    return (body.data as unknown as { vars: Record<string, string> }).vars;
  };
  const primary = async () => Number((await config("data", "main")).PG_PRIMARY_ORDINAL);
  /** A connection of the test's own to the primary, as superuser. */
  const login = async (database: string) => {
    const { POSTGRES_MAINTENANCE_PASSWORD: password = "" } = await config("data", "main");
    const hostname = await addressOf(berth, `data-main.${await primary()}`);
    const as = { username: "maintenance", password, database };
    return new SQL({ adapter: "postgres", hostname, port: 5432, ...as, max: 1, connectionTimeout: 2 });
  };
  const streaming = async () => {
    const server = await login("postgres");
    try {
      const [row] = await server`select count(*)::int as pods from pg_stat_replication
        where state = 'streaming' and application_name ~ '^pod-'`;
      return row.pods as number;
    } finally {
      await server.close({ timeout: 0 });
    }
  };
  /** The last of what each pod said: why a cluster is not whole stands nowhere else. */
  const lastLines = () =>
    [0, 1, 2].map((ordinal) => {
      const { stdout, stderr } = Bun.spawnSync([
        "docker",
        "-H",
        berth.dockerHost,
        "logs",
        "--tail",
        "25",
        `data-main.${ordinal}`,
      ]);
      return `pod ${ordinal}:\n${stdout}${stderr}`;
    });
  const isWhole = () =>
    waitFor(
      "one primary and two standbys that follow it",
      async () => {
        await allReady(berth, "data", "main");
        if ((await streaming()) !== 2) return false;
        // Asked last: it costs far more than the others.
        const { pods } = await infoOf(berth, "pg", "data/main");
        return pods.filter(({ role }) => role === "primary").length === 1 && pods.every(({ ready }) => ready);
      },
      120_000,
    ).catch((error: unknown) => {
      throw new Error(lastLines().join("\n"), { cause: error });
    });
  /** What a client says that connects as an app does, from another pod. */
  const connect = async (url: string, query: string) => {
    const [pod] = await berth.pods("shop", "client");
    const psql = 'PATH=$(echo /usr/lib/postgresql/*/bin):$PATH; psql -XAtw "$0" -c "$1" 2>&1 || true';
    return berth.docker(["exec", String(pod?.name), "sh", "-c", psql, url, query]).trim();
  };

  test("the block became a cluster with what it names, and no manifest holds a password", async () => {
    await isWhole();
    expect(await berth.run("pg", "psql", "data/main", "-c", "show max_connections", "--", "-At")).toBe("40");
    expect(await sql("select extname from pg_extension where extname = 'pgcrypto'")).toBe("pgcrypto");
    const { body } = await berth.call("GET", "/apply");
    const secrets = Object.entries(await config("data", "main")).filter(([key]) => key.includes("PASSWORD"));
    expect(secrets).toHaveLength(2);
    for (const [, secret] of secrets) expect(JSON.stringify(body)).not.toContain(secret);
  });

  test("a user, a database and an extension that are added later are made, and nothing is lost", async () => {
    await sql("create table kept as select 1 as one");
    const more = {
      users: ["reporting"],
      databases: [{ name: "stats", owner: "reporting", extensions: ["uuid-ossp"] }],
    };
    expect((await berth.apply(block(more))).status).toBe(200);
    await berth.ready("statefulset", "data", "main", 120_000);
    await isWhole();
    expect(await sql("select pg_get_userbyid(datdba) from pg_database where datname = 'stats'")).toBe("reporting");
    expect(await sql("select count(*) from kept")).toBe("1");
    await berth.run(
      "pg",
      "link",
      "data/main",
      "shop/web",
      "--user",
      "reporting",
      "--database",
      "stats",
      "--as",
      "STATS_URL",
    );
    const { STATS_URL = "" } = await config("shop", "web");
    expect(await connect(STATS_URL, "select current_user")).toBe("reporting");
    expect((await berth.apply(block(more))).status).toBe(200);
  });

  test("query shows rows of one statement and can write nothing, and no record keeps what was asked", async () => {
    await sql("create table secrets as select 7 as pin; create sequence counts");
    await sql("create function eats() returns int language plpgsql as $$ begin delete from secrets; return 1; end $$");
    const query = (text: string, ...more: string[]) => berth.run("pg", "query", "data/main", "-c", text, ...more);
    expect(await query("select pin, null as nothing from secrets;")).toBe("pin  nothing\n7    NULL\n\n1 row");
    const { body } = await berth.call("POST", "/plugin/pg/query", {
      args: ["data/main", "-c", "select g from generate_series(1, 9) g", "--limit", "2", "-o", "json"],
    });
    const shown = JSON.parse((body.data as unknown as { message: string }).message);
    expect(shown).toEqual({ columns: ["g"], rows: [[1], [2]], more: true });
    for (const [text, why] of [
      ["select 1; drop table secrets", "only one statement at a time"],
      ["; drop table secrets", "not DROP TABLE"],
      ["commit", "not COMMIT"],
      ["copy secrets to program 'id'", "not COPY"],
      ["select * into other from secrets", "not SELECT INTO"],
      ["set transaction_read_only = off", "not SET"],
      ["select set_config('transaction_read_only', 'off', false)", "must be set before any query"],
      ["select set_config('role', 'postgres', false)", "permission denied"],
      ["select set_config('session_authorization', 'postgres', false)", "permission denied"],
      ["with gone as (delete from secrets returning *) select * from gone", "read-only transaction"],
      ["insert into secrets values (8) returning pin", "read-only transaction"],
      ["select eats()", "read-only transaction"],
      ["select nextval('counts')", "permission denied"],
      ["select pg_read_file('/etc/passwd')", "permission denied"],
      ["\\! id", "syntax error"],
    ] as const) {
      const { body } = await berth.call("POST", "/plugin/pg/query", { args: ["data/main", "-c", text] });
      expect([text, body.error]).toEqual([text, expect.stringContaining(why)]);
    }
    expect(await sql("select count(*) from secrets")).toBe("1");
    const runs = await berth.call("GET", "/plugins/runs?plugin=pg&limit=50");
    const kept = (runs.body.data as unknown as { runs: { command: string; args: string[]; error?: string }[] }).runs;
    const asked = kept.filter(({ command }) => command === "query");
    expect(asked.length).toBeGreaterThan(10);
    for (const { args, error } of asked)
      expect([args, error ?? ""]).toEqual([["data/main"], expect.not.stringContaining("secrets")]);
    // A role that somebody gave more to is not used.
    await sql("alter role berth_reader createdb");
    expect(await berth.refused("pg", "query", "data/main", "-c", "select 1")).toContain("can do more than read");
    await sql("drop role berth_reader");
    expect(await query("select 1 as one")).toContain("1 row");
  });

  test("a linked app logs in over the network; the superuser cannot", async () => {
    await berth.run("pg", "link", "data/main", "shop/web", "--reads");
    const { DATABASE_URL = "", DATABASE_READ_URL = "" } = await config("shop", "web");
    expect(await connect(DATABASE_URL, "select current_user || current_database()")).toBe("appapp");
    expect(await connect(DATABASE_READ_URL, "select 1")).toBe("1");
    expect(await connect(DATABASE_URL.replace("://app:", "://postgres:"), "select 1")).toContain("rejects connection");
  });

  test("query answers when an app has used up all connections", async () => {
    const { DATABASE_URL: url = "" } = await config("shop", "web");
    const [pod] = await berth.pods("shop", "client");
    const hold = 'for n in $(seq 15); do psql -Xqw "$0" -c "select pg_sleep(600)" & done; wait';
    const words = `PATH=$(echo /usr/lib/postgresql/*/bin):$PATH; ${hold}`;
    // Connections that begin together count against one another, so the server refuses more of them than it has to, and
    // slots stay free: more are begun until one by itself is refused.
    await waitFor("no connection to be left", async () => {
      if ((await connect(url, "select 1")).includes("slots are reserved")) return true;
      berth.docker(["exec", "-d", String(pod?.name), "sh", "-c", words, url]);
      return false;
    });
    try {
      expect(await berth.run("pg", "query", "data/main", "-c", "select current_user as who")).toContain("berth_reader");
      for (const [text, why] of [
        ["select set_config('role', 'none', false)", "within security-definer function"],
        ["select set_config('session_authorization', 'default', false)", "within security-definer function"],
        ["select eats()", "read-only transaction"],
      ] as const) {
        const { body } = await berth.call("POST", "/plugin/pg/query", { args: ["data/main", "-c", text] });
        expect([text, body.error]).toEqual([text, expect.stringContaining(why)]);
      }
    } finally {
      await sql("select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = 'app'");
    }
    expect(await sql("select count(*) from pg_proc where proname = 'berth_read'")).toBe("0");
  });

  test("a new password reaches the server and the app, and the old one is refused", async () => {
    const { DATABASE_URL: old = "" } = await config("shop", "web");
    expect(await berth.run("pg", "new-password", "data/main")).toBe(
      "app has a new password; 1 linked app got new URLs",
    );
    const { DATABASE_URL: fresh = "" } = await config("shop", "web");
    expect(await connect(fresh, "select 1")).toBe("1");
    expect(await connect(old, "select 1")).toContain("password authentication failed");
    // Not undone by containers of before that start again.
    berth.docker(["restart", `data-main.${await primary()}`]);
    await isWhole();
    expect(await connect(fresh, "select 1")).toBe("1");
  });

  test("a planned promotion loses nothing, and the container of before knows its place when it starts again", async () => {
    await sql("create table planned as select generate_series(1, 500) as n");
    const old = await primary();
    const target = old === 1 ? 2 : 1;
    await berth.run("pg", "promote", "data/main", "--replica", String(target), "--yes");
    expect(await primary()).toBe(target);
    expect(await sql("select count(*) from planned")).toBe("500");
    await isWhole();
    // Its environment still says that another pod is primary.
    berth.docker(["restart", `data-main.${target}`]);
    await isWhole();
    expect(await primary()).toBe(target);
    expect(await connect((await config("shop", "web")).DATABASE_URL ?? "", "select pg_is_in_recovery()")).toBe("f");
  });

  test("a primary that dies with changes nobody has is rewound, and its changes are gone", async () => {
    const old = await primary();
    const others = [0, 1, 2].filter((ordinal) => ordinal !== old);
    await sql("create table agreed as select 1 as n; checkpoint");
    for (const ordinal of others) berth.docker(["pause", `data-main.${ordinal}`]);
    // More than the connections to them hold by themselves; what follows is here and nowhere else.
    await sql("select pg_logical_emit_message(false, 'filler', repeat('x', 40000000))");
    await sql("create table lost as select 1 as n; checkpoint");
    berth.docker(["kill", `data-main.${old}`]);
    // Else it would be back before the promotion, and would send it all.
    await berth.run("stop", `data/main.${old}`);
    for (const ordinal of others) berth.docker(["unpause", `data-main.${ordinal}`]);
    await berth.run("pg", "promote", "data/main", "--replica", String(others[0]), "--force", "--yes");
    await isWhole();
    const tables = "select string_agg(relname, ',' order by relname) from pg_class where relname in ('agreed', 'lost')";
    expect(await sql(tables)).toBe("agreed");
    expect(await sql(tables, "--replica", String(old))).toBe("agreed");
  });

  test("a primary whose volume is gone does not begin a second database", async () => {
    const old = await primary();
    const answer = await berth.call("DELETE", `/resource?scope=data&name=main&ordinal=${old}&prune=true`);
    expect(answer.status).toBe(200);
    await waitFor(
      "the pod to refuse",
      async () => {
        const { stdout } = await berth.cli(["logs", `data/main.${old}`]);
        return stdout.includes("this volume is empty and another pod has the data; make that one primary");
      },
      60_000,
    );
    await berth.run("pg", "promote", "data/main", "--force", "--yes");
    await isWhole();
    expect(await sql("select count(*) from planned")).toBe("500");
  });

  /** What the checks of the backups found, newest first. */
  const checks = async () => {
    const list = JSON.parse(await answerOf(berth, "pg", "backups", ["data/main", "-o", "json"]));
    return (list as { check: string }[]).map(({ check }) => check);
  };
  /** What belongs to the database and is in no table of it. */
  const itself = `select row(pg_get_userbyid(datdba), array(select unnest(datacl)::text order by 1), datconnlimit,
    shobj_description(oid, 'pg_database'), array(select setrole::regrole || ' ' || setconfig::text
    from pg_db_role_setting where setdatabase = d.oid order by 1)) from pg_database d where datname = current_database()`;

  test("a backup is restored in the place of a database with all that belongs to it, which stays under another name", async () => {
    await sql("create table t as select generate_series(1, 100) as n", "-U", "app");
    await sql(`alter database app set search_path = side, public; alter database app set timezone = 'Asia/Tokyo';
      alter role reporting in database app set work_mem = '8MB'; alter database app connection limit 30;
      revoke connect on database app from public; comment on database app is 'the shop''s'; create role loose;
      grant connect on database app to loose; create schema side; create table side.lone as select 1 as n;
      grant usage on schema side to app; grant select on side.lone to app, loose; select lo_from_bytea(0, 'x');
      create publication pub for table side.lone;
      alter default privileges in schema side grant select on tables to loose`);
    const before = await sql(itself);
    expect(await berth.run("pg", "backup", "data/main")).toContain("was restored once and counted; 2 are kept");
    const [id = ""] = await backupsOf(berth, "pg", "data/main");
    await sql("delete from t");
    // As a restore leaves it that was killed with the server.
    await sql("create database berth_restore_20260101000000_7");
    const message = await berth.run("pg", "restore", "data/main", id, "--replace", "--yes");
    expect(await sql("select count(*) from pg_database where datname ~ '^berth_restore_'")).toBe("0");
    expect(message).toMatch(/what it was before is database app_before_\d{14}$/);
    expect(message).toContain("as in the backup, and so are its owners, grants and settings");
    expect(await sql(itself)).toBe(before);
    expect(await connect((await config("shop", "web")).DATABASE_URL ?? "", "select n from lone")).toBe("1");
    expect(await sql("select count(*) from t")).toBe("100");
    // Also when the server dies right after it has said so.
    berth.docker(["kill", `data-main.${await primary()}`]);
    await isWhole();
    expect(await sql("select count(*) from t")).toBe("100");
    expect(await sql("select count(*) from t", "-d", String(/app_before_\d+/.exec(message)?.[0]))).toBe("0");
    expect(await connect((await config("shop", "web")).DATABASE_URL ?? "", "select count(*) from t")).toBe("100");
  });

  test("roles that a restore lacks are named, and backups of older versions are restored", async () => {
    const [id = ""] = await backupsOf(berth, "pg", "data/main");
    const before = await sql(itself);
    const old = await sql("select datname from pg_database where datname ~ '^app_before_'");
    await sql(`drop database ${old}`, "-d", "postgres");
    await sql("drop owned by loose");
    await sql("drop role loose");
    const lacks = "needs roles that this server does not have: loose";
    expect(await berth.refused("pg", "restore", "data/main", id, "--into", "x", "--yes")).toContain(lacks);
    const unchecked = await berth.refused("pg", "backups:check", "data/main", id);
    expect([unchecked, await checks()]).toEqual([expect.stringContaining("could not be checked"), ["passed"]]);
    await sql("create role loose");
    // As a version made it that kept no more than rows.
    const older = "20200101T000000Z";
    const forget = "rm *.facts *.roles .order .check SHA256SUMS && sha256sum * >.sums && mv .sums SHA256SUMS";
    const copy = `cp -rp /backups/${id} /backups/${older} && cd /backups/${older} && ${forget}`;
    berth.docker(["exec", `data-main.${await primary()}`, "sh", "-c", copy]);
    const told = await berth.run("pg", "restore", "data/main", older, "--into", "older", "--yes");
    expect([told.includes("of an older version"), await sql(itself, "-d", "older")]).toEqual([true, before]);
    await sql("drop database older", "-d", "postgres");
    await berth.run("pg", "backups:delete", "data/main", older, "--yes");
    await sql("drop publication pub; drop schema side cascade; alter database app reset all");
    await sql("grant connect on database app to public; alter database app connection limit -1");
  });

  test("a backup that cannot be restored says so, and displaces none that can", async () => {
    const [good = ""] = await backupsOf(berth, "pg", "data/main");
    // A dump of this cannot be restored: nothing says where the function looks.
    await sql(`create table looked as select 1 as n;
      create function looks() returns int language sql as 'select n from looked';
      create materialized view broken as select looks() as n`);
    expect(await berth.refused("pg", "backup", "data/main", "--keep", "1")).toContain("cannot be restored");
    expect(await berth.refused("cron", "run", "data/main.backup")).toContain("failed after");
    expect((await checks()).slice(0, 2)).toEqual(["failed", "failed"]);
    expect(await berth.run("pg", "backups", "data/main")).toMatch(/failed: app: .*relation "looked" does not exist/);
    expect(await berth.run("pg", "info", "data/main")).toContain("backups: 3, 2 of them failed the check, keep 2");
    const [newest = "", second = ""] = await backupsOf(berth, "pg", "data/main");
    const prune = ["pg", "backups:prune", "data/main", "--keep", "1", "--yes"];
    expect(await berth.run(...prune, "--dry-run")).toBe(`would remove ${second}`);
    expect(await berth.run(...prune)).toBe(`removed ${second}`);
    expect(await backupsOf(berth, "pg", "data/main")).toEqual([newest, good]);
    await sql("drop materialized view broken; drop function looks; drop table looked");
    await berth.run("pg", "backups:delete", "data/main", newest, "--yes");
    expect(await checks()).toEqual(["passed"]);
  });

  test("a dump is fetched through the server, as pg_restore reads it", async () => {
    const [id = ""] = await backupsOf(berth, "pg", "data/main");
    const folder = mkdtempSync(join(tmpdir(), "berth-dump."));
    try {
      const { exitCode, stderr } = await berth.cli(["pg", "backups:download", "data/main", id, "--to", "app.dump"], {
        cwd: folder,
      });
      expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(readFileSync(join(folder, "app.dump"), "latin1")).toStartWith("PGDMP");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a dump from elsewhere becomes a backup, from a file or a URL, and is restored like one", async () => {
    const folder = mkdtempSync("/var/tmp/berth-import.");
    const plain = Bun.serve({ port: 0, fetch: () => new Response(Bun.file(join(folder, "app.dump"))) });
    try {
      const [id = ""] = await backupsOf(berth, "pg", "data/main");
      await berth.cli(["pg", "backups:download", "data/main", id, "--to", "app.dump"], { cwd: folder });
      chmodSync(folder, 0o755);
      chmodSync(join(folder, "app.dump"), 0o644);
      for (const [at, source] of [join(folder, "app.dump"), `http://127.0.0.1:${plain.port}/x`].entries()) {
        const told = await berth.run("pg", "backups:import", "data/main", source);
        const imported = /^backup (\S+)/.exec(told)?.[1] ?? "";
        expect(told).toContain(`; restore it with: restore data/main ${imported}`);
        await berth.run("pg", "restore", "data/main", imported, "--into", `imported_${at}`, "--yes");
        expect(await sql("select count(*) from t", "-d", `imported_${at}`)).toBe("100");
        await sql(`drop database imported_${at}`);
        await berth.run("pg", "backups:delete", "data/main", imported, "--yes");
      }
      expect(await berth.refused("pg", "backups:import", "data/main", "/etc/passwd")).toContain(
        "is not a dump of pg_dump -Fc",
      );
    } finally {
      await plain.stop(true);
      rmSync(folder, { recursive: true });
    }
  });

  test("a backup that is being taken can be ended, and the logs tell of it", async () => {
    await sql("create table locked (n int)");
    const before = await backupsOf(berth, "pg", "data/main");
    expect(await berth.run("pg", "backups:cancel", "data/main")).toStartWith("no backup");
    const server = await login("app");
    const holder = await server.reserve();
    await holder`begin`;
    await holder`lock table locked`;
    const taking = berth.cli(["pg", "backup", "data/main", "--no-check"]);
    await waitFor("the dump to wait for the table", async () => {
      const [row] = await holder`select count(*)::int as waiting from pg_locks where not granted`;
      return row.waiting > 0;
    });
    expect(await berth.run("pg", "backups:cancel", "data/main")).toBe("ended 1 backup; those that are complete stay");
    const { exitCode, stderr } = await taking;
    await server.close({ timeout: 0 });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("the backup of data/main was cancelled by backups:cancel");
    expect(await backupsOf(berth, "pg", "data/main")).toEqual(before);
    const logs = await berth.run("pg", "backups:logs", "data/main");
    expect(logs).toMatch(/ backup +cancelled /);
    expect(logs).toContain("dumping app");
    expect(logs).toContain("was cancelled by backups:cancel; those that are complete stay");
    await sql("drop table locked");
  });

  test("the settings that it runs with are printed, and no password", async () => {
    const text = await berth.run("pg", "get-conf", "data/main");
    expect(text).toContain("max_connections = '40'");
    expect(text).not.toMatch(/password=|[0-9a-f]{64}/);
  });

  test("what is damaged, unknown or in the way is refused and changes nothing", async () => {
    const [id = ""] = await backupsOf(berth, "pg", "data/main");
    const restore = (...words: string[]) => berth.refused("pg", "restore", "data/main", ...words, "--yes");
    expect(await restore(id, "--into", "stats")).toContain('database "stats" is there already');
    expect(await restore(id, "--into", "x", "--database", "nothing")).toContain('holds no database "nothing"');
    expect(await restore("20200101T000000Z", "--into", "x")).toContain('no backup "20200101T000000Z"');
    expect(await restore("../../etc", "--into", "x")).toContain('"../../etc" is not a backup');
    expect(await restore(id)).toContain("say where to: --into NEW, or --replace");
    berth.docker(["exec", `data-main.${await primary()}`, "sh", "-c", `echo x >> /backups/${id}/1.dump`]);
    expect(await restore(id, "--into", "x")).toContain("is damaged: its files are not what was written");
    expect(await sql("select count(*) from pg_database where datname = 'x'")).toBe("0");
  });

  test("the schedule takes backups by itself, and only the newest stay", async () => {
    const before = await backupsOf(berth, "pg", "data/main");
    for (let more = 0; more < 2; more += 1) {
      expect(await berth.run("cron", "run", "data/main.backup")).toContain("restoring it to see that it can be");
    }
    const after = await backupsOf(berth, "pg", "data/main");
    expect(after).toHaveLength(2);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    await berth.run("pg", "backups:delete", "data/main", String(after[1]), "--yes");
    expect(await backupsOf(berth, "pg", "data/main")).toEqual(after.slice(0, 1));
  });

  test("two backups that are taken at the same time are two, and what an interrupted check left is gone", async () => {
    await sql("create database berth_check_20200101t000000z_1");
    const told = await Promise.all([1, 2].map(() => berth.run("pg", "backup", "data/main")));
    for (const text of told) expect(text).toContain("was restored once and counted");
    const ids = told.map((text) => /^backup (\S+)/.exec(text)?.[1] ?? "").sort();
    expect(new Set(ids).size).toBe(2);
    expect(await backupsOf(berth, "pg", "data/main")).toEqual(ids.reverse());
    expect(await sql("select count(*) from pg_database where datname like 'berth_check_%'")).toBe("0");
  });

  test("unlinked, the app has no URL any more", async () => {
    await berth.run("pg", "unlink", "data/main", "shop/web");
    expect(await config("shop", "web")).toEqual({});
    expect((await infoOf(berth, "pg", "data/main")).links).toEqual([]);
    expect(await berth.run("pg", "unlink", "data/main", "shop/web")).toBe("shop/web is not linked to data/main");
  });

  test("help of what is destructive asks nothing and does nothing", async () => {
    const before = await primary();
    expect(await berth.run("pg", "promote", "-h")).toContain("berth pg:promote");
    expect(await berth.run("pg", "promote", "-h", "--yes")).toContain("promote SCOPE/NAME [--replica N]");
    expect(await primary()).toBe(before);
  });

  test("wrong words name what is right, and blocks that are none are refused", async () => {
    expect(await berth.refused("pg", "info")).toContain("say which postgres: SCOPE/NAME");
    expect(await berth.refused("pg", "info", "data/other")).toContain("no postgres data/other; apply its block first");
    expect(await berth.refused("pg", "link", "data/main", "shop/web", "--user", "x")).toContain(
      'the block has no user "x"',
    );
    const { status, body } = await berth.apply(block({ replicas: 0 }));
    expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringContaining("replicas") });
  });
});
