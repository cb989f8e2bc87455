import { describe, expect, test } from "bun:test";
import { fitsVersion, readPluginYml } from "../../../../../src/orchestration/core/plugins/plugin-yml.ts";
import { parsePluginYml } from "../../../../../src/orchestration/plugins/yaml.ts";

function read(text: string, folder = "folder") {
  const { value, fault } = parsePluginYml(text);
  if (fault !== undefined) return { yml: undefined, problems: [`plugin.yml ${fault}`] };
  const { yml, problems } = readPluginYml(value, folder);
  return { yml, problems: problems.map(({ path, message }) => `${path}: ${message}`) };
}

describe("plugin.yml", () => {
  test("may be empty: everything has a default", () => {
    expect(read("")).toEqual({
      yml: {
        name: "folder",
        version: "",
        description: "",
        homepage: "",
        aliases: [],
        kinds: ["folder"],
        commands: [],
        env: {},
      },
      problems: [],
    });
  });

  test("is read whole", () => {
    const text = `
name: postgres
version: 0.10
description: databases
homepage: https://example.com
aliases: [pg, 1]
kinds: [postgres, pg]
entrypoint: ./bin/tool
commands:
  - expand
  - {name: psql, help: opens a session, usage: " SCOPE/NAME [-c SQL] ", timeout: 1h, long: true}
  - {name: "backups:capture", destructive: true}
env: {PORT: 0123, ON: yes, EMPTY: }
routes: {prefix: pg, port: 8080, port_env: PG_PORT}
protocol: 1
requires: {version: ">=0.1", programs: [docker, sh]}
permissions: {actions: [config_set], scopes: [data], docker: true}
schema: schema.json
unknown: passed over
`;
    expect(read(text)).toEqual({
      yml: {
        name: "postgres",
        version: "0.10",
        description: "databases",
        homepage: "https://example.com",
        aliases: ["pg", "1"],
        kinds: ["postgres", "pg"],
        entrypoint: "./bin/tool",
        commands: [
          { name: "expand" },
          { name: "psql", help: "opens a session", usage: "SCOPE/NAME [-c SQL]", timeout: "1h", long: true },
          { name: "backups:capture", destructive: true },
        ],
        env: { PORT: "0123", ON: "yes", EMPTY: "" },
        routes: { prefix: "pg", port: 8080, port_env: "PG_PORT" },
        protocol: 1,
        requires: { version: ">=0.1", programs: ["docker", "sh"] },
        permissions: { actions: ["config_set"], scopes: ["data"], docker: true },
        schema: { postgres: "schema.json", pg: "schema.json" },
      },
      problems: [],
    });
  });

  test.each([
    ["version: 1.0", "1.0"],
    ["version: 0.10", "0.10"],
    ["version: 1e3", "1e3"],
    ["version: 2026-01-01", "2026-01-01"],
    ["version: '1.10'", "1.10"],
    ["version: 0x10", "0x10"],
    ["version:", ""],
  ])("%s keeps the text that was written", (text, version) => {
    expect(read(text).yml?.version).toBe(version);
  });

  test.each([
    ["- a list", "expected a map"],
    ["name: ../../x", '"../../x" is not a valid name'],
    ["name: Upper", '"Upper" is not a valid name'],
    ["name: deployment", '"deployment" is a kind of the server itself'],
    ["aliases: [app]", '"app" is a kind of the server itself'],
    ["aliases: [a b]", 'got "a b"'],
    ["aliases: pg", "aliases: expected a list"],
    ["entrypoint: /bin/sh", "entrypoint: expected a path inside the package"],
    ["entrypoint: ../x", "entrypoint: expected a path inside the package"],
    ["commands: [{name: a/b}]", '"a/b" is not a valid command name'],
    ["commands: [{name: ..}]", '".." is not a valid command name'],
    ["commands: [a, a]", '"a" is declared twice'],
    ["commands: [{name: a, timeout: soon}]", '"soon" is not a time limit'],
    ["commands: [{name: a, timeout: 0}]", '"0" is not a time limit'],
    ["commands: [{name: a, long: 7}]", "commands[0].long: expected true or false"],
    ['commands: [{name: a, usage: "A\\nB"}]', "commands[0].usage: expected one line"],
    ["commands: [7]", "commands[0]: expected a map"],
    ["env: {1A: x}", "is not a valid name of an environment variable"],
    ["env: {A: [x]}", "env.A: expected a text"],
    ["routes: {port: 70000}", "70000 is not a port"],
    ["attend: {unready: 10ms}", 'attend.unready: "10ms" is not a duration of at least 1s'],
    ["backup: {dump: [cat]}", 'backup.restore: expected a program and its arguments, like ["pg_dump", "-Fc"]'],
    ["backup: {dump: [cat], restore: [cat], check: []}", "backup.check: expected a program and its arguments"],
    [
      "{backup: {dump: [cat], restore: [cat]}, permissions: {actions: []}}",
      "permissions.backup: its backup commands need this permission: backup: true",
    ],
    ["attend: {command: ../x}", 'attend.command: "../x" is not a valid command name'],
    ["routes: {prefix: a/b}", 'routes.prefix: "a/b" is not one segment'],
    ["protocol: 2", "speaks protocol 2 and this server 1"],
    ["requires: {version: new}", '"new" is not a version'],
    ["requires: {programs: [../x]}", '"../x" is not a program name'],
    ["permissions: {actions: [rm]}", 'unknown action "rm"; known are config_set'],
    ["schema: ../x.json", "expected a path inside the package"],
    ["schema: {a: /etc/x}", "expected a path inside the package"],
    [`aliases: [${Array(201).fill("a").join(",")}]`, "at most 200 entries"],
  ])("%s is refused", (text, fault) => {
    const { problems } = read(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join("\n")).toContain(fault);
  });

  test("permissions that cannot be read are none, never all", () => {
    expect(read("permissions: everything").yml?.permissions).toEqual({ actions: [], scopes: [], docker: false });
    expect(read("permissions: {}").yml?.permissions).toEqual({ actions: [], scopes: ["*"], docker: false });
    expect(read("name: x").yml?.permissions).toBeUndefined();
  });

  test("faults of YAML name their place", () => {
    expect(read("name: x\nenv: [").problems[0]).toMatch(/^plugin\.yml line 2 column \d+: /);
    expect(read("a: 1\na: 2").problems[0]).toContain("line 2 column 1");
  });

  test("aliases that grow without end are refused", () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x]",
      ...[..."bcdefgh"].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${"abcdefgh"[at]}`)}]`),
    ];
    expect(read(bomb.join("\n")).problems[0]).toContain("alias");
  });
});

describe("a required version", () => {
  test.each([
    [">=0.2.0", "0.2.0", true],
    [">=0.2.0", "0.10.0", true],
    [">=0.2.0", "0.1.9", false],
    ["1", "1.0.0", true],
    ["v0.1", "0.1.5", true],
    [">=1.0", "0.9.9", false],
    ["later", "1.0.0", false],
  ])("%s and a server %s: %p", (wanted, own, fits) => {
    expect(fitsVersion(wanted, own)).toBe(fits);
  });
});
