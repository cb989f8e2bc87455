import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";

const plugins = join(import.meta.dir, "../../../../plugins");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-status."));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "process"), "Name:\tsh\nUid:\t1000\t1000\t1000\t1000\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that the scripts find before the real one. */
function program(name: string, lines: string): void {
  const path = join(folder, "bin", name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
}

/** Runs a tool of a plugin's scripts. */
function tool(plugin: string, name: string, more: Record<string, string> = {}, ...args: string[]) {
  return run(plugin, ["/berth/tools.sh", name, ...args], more);
}

/** Runs sh with scripts of a plugin, laid where a pod has them. */
async function run(plugin: string, words: string[], more: Record<string, string> = {}) {
  mkdirSync(join(folder, "data"), { recursive: true });
  const at = join(folder, "berth");
  const lay = (from: string, to: string) => {
    mkdirSync(join(to, ".."), { recursive: true });
    const text = readFileSync(from, "utf8")
      .replaceAll("/tmp/", `${folder}/`)
      .replaceAll("/berth/", `${at}/`)
      .replaceAll("/etc/hosts", join(folder, "hosts"))
      // Who is not root goes on as they are.
      .replaceAll("/proc/self/status", join(folder, "process"));
    writeFileSync(to, text);
  };
  for (const name of [...(plugin === "postgres" ? ["facts.sh"] : []), "lib.sh", "tools.sh", "backup.sh"])
    lay(join(plugins, plugin, name), join(at, name));
  for (const name of ["pod.sh", "kept.sh", "backups.sh", "handover.sh"])
    lay(join(plugins, "kit", name), join(at, "kit", name));
  const env = {
    PATH: `${join(folder, "bin")}:/usr/bin:/bin`,
    PGDATA: join(folder, "data"),
    ...{ PG_SCOPE: "data", PG_NAME: "main", REDIS_SCOPE: "data", REDIS_NAME: "main", REDIS_PASSWORD: "x" },
    ...more,
  };
  const child = Bun.spawn(["sh", ...words.map((word) => word.replaceAll("/berth/", `${at}/`))], {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, stdout] = await Promise.all([child.exited, new Response(child.stdout).text()]);
  return { exitCode, stdout };
}

describe("redis", () => {
  const server = (lines: string) => {
    program("redis-server", "");
    program("redis-cli", lines);
  };
  const role = (text: string, more = "") =>
    server(`while read -r command; do
      case $command in
        info) printf 'redis_version:7.0.1\\r\\nrole:${text}\\r\\nmaster_link_status:up\\r\\n${more}\\r\\n' ;;
        dbsize) echo 12 ;;
      esac
    done`);

  test.each([
    ["master", "role=primary"],
    ["slave", "role=standby"],
  ])("a %s says so", async (text, line) => {
    role(text);
    const { exitCode, stdout } = await tool("redis", "status");
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toContain(line);
  });

  test("a primary tells who follows it, and how many keys it has", async () => {
    const standby = (at: number) => `slave${at}:ip=10.0.0.${at},port=6379,state=online,offset=7${at},lag=0`;
    role(
      "master",
      `master_replid:abc\\r\\nmaster_repl_offset:70\\r\\nslave_repl_offset:1\\r\\n${standby(0)}\\r\\n${standby(1)}`,
    );
    expect((await tool("redis", "status")).stdout.trimEnd().split("\n")).toEqual([
      "epoch=0",
      "primary=0",
      "backups=0",
      "failed_backups=0",
      "version=7.0.1",
      "replid=abc",
      "standby=10.0.0.0 online 70",
      "standby=10.0.0.1 online 71",
      "keys=12",
      "role=primary",
      "position=70",
    ]);
  });

  test.each([
    ["refuses connections", 'echo "Could not connect to Redis: Connection refused"; exit 1'],
    ["refuses connections, and the client calls that success", 'echo "Could not connect to Redis: Connection refused"'],
    ["refuses the password", 'echo "NOAUTH Authentication required."'],
    ["says nothing", "true"],
  ])("one that %s is no standby", async (_what, lines) => {
    server(lines);
    const { exitCode, stdout } = await tool("redis", "status");
    expect(exitCode).not.toBe(0);
    expect(stdout).not.toContain("role=");
  });

  const says = (text: string) => program("redis-cli", `cat >/dev/null; printf '${text}'`);
  const ready = async () => (await tool("redis", "ready")).exitCode === 0;

  test("is ready as primary, and as a standby once it has had everything", async () => {
    server("");
    says("PONG\\r\\nrole:master\\r\\n");
    expect(await ready()).toBe(true);
    says("PONG\\r\\nrole:slave\\r\\nmaster_link_status:down\\r\\n");
    expect(await ready()).toBe(false);
    says("PONG\\r\\nrole:slave\\r\\nmaster_link_status:up\\r\\n");
    expect(await ready()).toBe(true);
    says("PONG\\r\\nrole:slave\\r\\nmaster_link_status:down\\r\\n");
    expect(await ready()).toBe(true);
    for (const text of ["NOAUTH Authentication required.", "LOADING Redis is loading", ""]) {
      says(text);
      expect(await ready()).toBe(false);
    }
  });
});

describe("postgres", () => {
  const server = (lines: string) => {
    for (const name of ["postgres", "initdb"]) program(name, "");
    program("psql", lines);
  };
  /** Answers the script on its standard input, whose branches are those of psql. */
  const answers = (follows: string) =>
    server(`branch=all
    while read -r line; do
      case $line in
        *"as follows "*) ;;
        '\\if :follows') branch=t ;;
        '\\else') branch=f ;;
        '\\endif') branch=all ;;
        "select 'role="*) [ "$branch" != ${follows} ] || echo "$line" | sed "s/select '//; s/';//" ;;
      esac
    done`);

  test.each([
    ["f", "role=primary"],
    ["t", "role=standby"],
  ])("one that answers %s says so", async (text, line) => {
    answers(text);
    const { exitCode, stdout } = await tool("postgres", "status");
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split("\n").slice(-1)).toEqual([line]);
  });

  test("one whose answer breaks off is neither", async () => {
    server("cat >/dev/null; echo role=primary; exit 2");
    const { exitCode, stdout } = await tool("postgres", "status");
    expect(exitCode).not.toBe(0);
    expect(stdout).not.toContain("role=");
  });

  test("a promotion of one that does not answer fails", async () => {
    server("exit 2");
    expect((await tool("postgres", "promote", {}, "2", "1")).exitCode).not.toBe(0);
  });

  test("is ready as standby, and as primary once its roles are there", async () => {
    answers("t");
    program("pg_isready", "true");
    const ready = async () => (await tool("postgres", "ready")).exitCode === 0;
    expect(await ready()).toBe(false);
    writeFileSync(join(folder, "data/standby.signal"), "");
    expect(await ready()).toBe(true);
    rmSync(join(folder, "data/standby.signal"));
    expect(await ready()).toBe(false);
    writeFileSync(join(folder, "berth-ensured"), "");
    expect(await ready()).toBe(true);
    program("pg_isready", "exit 2");
    expect(await ready()).toBe(false);
  });

  test("a backup waits until the databases are there, and gives up instead of holding none of them", async () => {
    // The first thing that a backup does is its folder.
    program("mkdir", `touch "${folder}/begun"; exit 1`);
    const backup = (seconds: string) => tool("postgres", "backup", { PG_ENSURED_SECONDS: seconds }, "3");
    expect((await backup("0")).exitCode).not.toBe(0);
    expect(existsSync(join(folder, "begun"))).toBe(false);
    const waiting = backup("60");
    writeFileSync(join(folder, "berth-ensured"), "");
    expect((await waiting).exitCode).not.toBe(0);
    expect(existsSync(join(folder, "begun"))).toBe(true);
  });

  /** Runs `ensure` for a user and a database; what psql was given, and whether the pod counts as one that has all of it. */
  const ensured = async (env: Record<string, string>) => {
    mkdirSync(join(folder, "berth"), { recursive: true });
    const lines = ["user app APP_PASSWORD", "database app app", "extension app pgcrypto"];
    writeFileSync(join(folder, "berth/ensure.conf"), `${lines.join("\n")}\n`);
    const { exitCode } = await tool("postgres", "ensure", env);
    const script = existsSync(join(folder, "script")) ? readFileSync(join(folder, "script"), "utf8") : "";
    return { exitCode, script, isMarked: existsSync(join(folder, "berth-ensured")) };
  };

  test("a primary makes what the block names in one go, and no password is in the script", async () => {
    server(`cat >"${folder}/script"`);
    const { exitCode, script, isMarked } = await ensured({ APP_PASSWORD: "hidden" });
    expect([exitCode, isMarked]).toEqual([0, true]);
    expect(script).not.toContain("hidden");
    expect(script).toContain("\\set password `printenv APP_PASSWORD`\n");
    // Who connects as the role of the machinery finds the databases.
    expect(script.indexOf("create database")).toBeLessThan(script.indexOf("create role %I superuser"));
    expect(script).toEndWith(
      '\\connect app\nset client_min_messages = warning;\ncreate extension if not exists "pgcrypto";\n',
    );
  });

  test("a primary without a user's password, or whose server refuses, is not ready", async () => {
    server(`cat >"${folder}/script"`);
    expect(await ensured({})).toEqual({ exitCode: 1, script: "", isMarked: false });
    server("cat >/dev/null; exit 3");
    const { exitCode, isMarked } = await ensured({ APP_PASSWORD: "hidden" });
    expect([exitCode, isMarked]).toEqual([1, false]);
  });

  test("a primary asks those pods for their timeline that do not follow it, and not itself", async () => {
    writeFileSync(join(folder, "hosts"), "127.0.0.1\tlocalhost\n10.0.0.1\tother main-0\n10.0.0.11\tmain-01\n");
    const outdated = async (timelines: Record<string, number>, call: string) => {
      const answers = Object.entries(timelines).map(([address, line]) => `${address}) echo ${line} ;;`);
      const script = `set -eu
        . /berth/lib.sh
        peers() { printf '10.0.0.1\\n10.0.0.2\\n10.0.0.3\\n10.0.0.11\\n'; }
        remote_value() { case $1 in ${answers.join(" ")} esac; }
        if ${call}; then echo "after $peer"; else echo no; fi`;
      const { stdout } = await run("postgres", ["-c", script], { HOSTNAME: "main-0" });
      return stdout.trim();
    };
    const own = '"10.0.0.2 $(own_addresses)"';
    expect(await outdated({ "10.0.0.3": 4 }, `outdated 4 ${own}`)).toBe("no");
    expect(await outdated({ "10.0.0.3": 5 }, `outdated 4 ${own}`)).toBe("after 10.0.0.3");
    expect(await outdated({ "10.0.0.11": 5 }, `outdated 4 ${own}`)).toBe("after 10.0.0.11");
    // What follows takes no writes, and a pod is not later than itself.
    expect(await outdated({ "10.0.0.1": 9, "10.0.0.2": 9 }, `outdated 4 ${own}`)).toBe("no");
    expect(await outdated({ "10.0.0.2": 9 }, "outdated 4")).toBe("after 10.0.0.2");
  });
});
