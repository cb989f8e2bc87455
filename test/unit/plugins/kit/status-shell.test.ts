import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";

const plugins = join(import.meta.dir, "../../../../plugins");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-status."));
  mkdirSync(join(folder, "bin"));
  program("id", "echo 1000");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that the scripts find before the real one. */
function program(name: string, lines: string): void {
  const path = join(folder, "bin", name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
}

/** Runs a tool of a plugin's scripts, laid where a pod has them. */
async function tool(plugin: string, ...args: string[]) {
  mkdirSync(join(folder, "data"), { recursive: true });
  const at = join(folder, "berth");
  const lay = (from: string, to: string) => {
    mkdirSync(join(to, ".."), { recursive: true });
    writeFileSync(to, readFileSync(from, "utf8").replaceAll("/tmp/", `${folder}/`).replaceAll("/berth/", `${at}/`));
  };
  for (const name of ["lib.sh", "tools.sh", "backup.sh"]) lay(join(plugins, plugin, name), join(at, name));
  for (const name of ["pod.sh", "backups.sh", "handover.sh"]) lay(join(plugins, "kit", name), join(at, "kit", name));
  const env = {
    PATH: `${join(folder, "bin")}:/usr/bin:/bin`,
    PGDATA: join(folder, "data"),
    ...{ PG_SCOPE: "data", PG_NAME: "main", REDIS_SCOPE: "data", REDIS_NAME: "main", REDIS_PASSWORD: "x" },
  };
  const child = Bun.spawn(["sh", join(at, "tools.sh"), ...args], {
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
  const role = (text: string) =>
    server(`case "$*" in *info) printf 'role:${text}\\r\\nmaster_link_status:up\\r\\n' ;; esac`);

  test.each([
    ["master", "role=primary"],
    ["slave", "role=standby"],
  ])("a %s says so", async (text, line) => {
    role(text);
    const { exitCode, stdout } = await tool("redis", "status");
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toContain(line);
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
  const answers = (recovering: string) =>
    server(`case "$*" in
      *"select pg_is_in_recovery()") echo ${recovering} ;;
      *"'role=primary'"*) echo role=primary ;;
      *"'role=standby'"*) echo role=standby ;;
    esac`);

  test.each([
    ["f", "role=primary"],
    ["t", "role=standby"],
  ])("one that answers %s says so", async (text, line) => {
    answers(text);
    const { exitCode, stdout } = await tool("postgres", "status");
    expect(exitCode).toBe(0);
    expect(stdout.split("\n")).toContain(line);
  });

  test("one that comes up between two questions is neither", async () => {
    // The first question is refused; what is asked after it would be answered.
    server(`[ -e "${folder}/asked" ] || { : >"${folder}/asked"; exit 2; }; echo role=primary`);
    const { exitCode, stdout } = await tool("postgres", "status");
    expect(exitCode).not.toBe(0);
    expect(stdout).not.toContain("role=");
  });

  test("a promotion of one that does not answer fails", async () => {
    server("exit 2");
    expect((await tool("postgres", "promote", "2", "1")).exitCode).not.toBe(0);
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
});
