import { describe, expect, test } from "bun:test";
import { parseArguments } from "../../../../src/client/basics/arguments.ts";
import { globalFlags, helpGroups } from "../../../../src/client/shell/help.ts";
import type { Command } from "../../../../src/client/shell/command.ts";
import { exitCodes } from "../../../../src/client/basics/failures.ts";
import { narrowed } from "../../../../src/client/entry/narrow.ts";
import { localCommands } from "../../../../src/client/basics/local-commands.ts";
import { loaded, verbs } from "../../../../src/client/entry/table.ts";
import { Answer, cli, refusal } from "../../../support/cli.ts";

const commands = await Promise.all(verbs.map(loaded));

/** Every way to a command. */
const paths = (table: readonly Command[], before: string[] = []): string[][] =>
  table.flatMap(({ name, commands: inner }) => [[...before, name], ...paths(inner ?? [], [...before, name])]);

const health = () => new Answer(200, { status: "ok", version: "9.9.9" });

describe("help", () => {
  test("names every command with its summary; bare and help are the same", async () => {
    const { out, code } = await cli([]);
    const all = [...commands, ...localCommands];
    const width = Math.max(...all.map(({ name }) => name.length));
    for (const { name, summary } of all) expect(out).toContain(`${name.padEnd(width)}  ${summary}`);
    expect(code).toBe(0);
    expect((await cli(["help"])).out).toBe(out);
    expect((await cli(["--help"])).out).toBe(out);
  });

  test.each(commands.map(({ name }) => name))("%s has help that names its flags, in three spellings", async (name) => {
    const { out, code, calls } = await cli([name, "--help"]);
    const command = commands.find((candidate) => candidate.name === name);
    for (const flag of command?.flags ?? []) expect(out).toContain(`--${flag.name}`);
    expect(out).toContain(`  berth ${name}`);
    expect([code, calls]).toEqual([0, []]);
    expect((await cli(["help", name])).out).toBe(out);
    expect((await cli(["-h", name])).out).toBe(out);
  });

  test("a group without a word about what to do shows its help", async () => {
    for (const path of [["identity"], ["identity", "key"]]) {
      const { out, code, calls } = await cli(path);
      expect([code, calls, out]).toEqual([0, [], (await cli([...path, "--help"])).out]);
    }
    expect((await cli(["identity", "keys"])).code).toBe(exitCodes.usage);
  });

  test("a narrower command has help of its own, also with a flag before its name", async () => {
    for (const verb of ["cancel", "retry", "log", "list"]) {
      const { out, code } = await cli(["build", verb, "--help"]);
      expect([code, out]).toEqual([0, expect.stringContaining(`berth build ${verb}`)]);
      expect(out).not.toContain("--secret");
      expect((await cli(["help", "build", verb])).out).toBe(out);
      expect((await cli(["build", "-o", "json", "--endpoint=unix:/x", verb, "--help"])).out).toBe(out);
    }
  });

  test("examples are command lines that are understood, each with its meaning", () => {
    for (const verb of commands) {
      expect([verb.name, verb.examples ?? []]).toEqual([verb.name, expect.arrayContaining([expect.any(String)])]);
      for (const example of verb.examples ?? []) {
        const [line = "", meaning] = example.split("  ", 2);
        const [name, ...rest] = line.split(" ");
        expect([name, meaning]).toEqual([verb.name, expect.stringMatching(/./)]);
        const { command, rest: words } = narrowed(verb, rest);
        const stop = command.restFromWord === undefined ? {} : { stopAtWord: command.restFromWord };
        expect(() => parseArguments(words, [...command.flags, ...globalFlags], stop)).not.toThrow();
      }
    }
  });

  test("lines of help fit a screen of 100 columns", async () => {
    for (const path of paths(commands)) {
      const { out } = await cli([...path, "--help"]);
      expect(out.split("\n").filter((line) => Bun.stringWidth(line) > 100)).toEqual([]);
    }
  });

  test("narrower commands have help of their own, and those that are none are told", async () => {
    for (const path of paths(commands).filter(({ length }) => length > 1)) {
      const { out, code } = await cli([...path, "--help"]);
      expect([code, out]).toEqual([0, expect.stringContaining(`  berth ${path.join(" ")}`)]);
      expect((await cli(["help", ...path])).out).toBe(out);
    }
    expect(await cli(["identity", "usr"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "identity usr": did you mean "user"?\n',
    });
    expect((await cli(["identity:user", "--help"])).out).toContain("berth identity user create");
  });

  test("of the program tells what scripts rely on", async () => {
    const { out } = await cli(["help"]);
    for (const code of Object.values(exitCodes)) expect(out).toMatch(new RegExp(`^  ${code} +\\w`, "m"));
    expect(out).toMatch(/^ {2}4 +the server was not reached$/m);
    expect(out).toMatch(/^ {2}5 +not confirmed/m);
  });

  test("of unknown commands suggests, and ends with 2", async () => {
    expect(await cli(["help", "aply"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "aply": did you mean "apply"?\n',
    });
    expect(await cli(["serv"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "serv": did you mean "serve"?\n',
    });
    expect(await cli(["deploy", "--now"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "deploy": did you mean "up" or "apply"?\n',
    });
    expect(await cli(["frobnicate"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "frobnicate"; see: berth help\n',
    });
  });
});

describe("flags", () => {
  test("global ones may stand before the command", async () => {
    const { out, calls } = await cli(["-o", "json", "--endpoint", "http://127.0.0.1:9", "version"], { server: health });
    expect(JSON.parse(out).data.server).toBe("9.9.9");
    expect(calls).toHaveLength(1);
  });

  test("an unknown one ends with 2, in JSON when JSON was asked for", async () => {
    expect(await cli(["get", "--al"])).toMatchObject({
      code: 2,
      err: 'error: unknown flag "--al"; see: berth get --help\n',
      out: "",
    });
    expect((await cli(["drains", "remove", "loki", "-y"])).err).toEndWith("; see: berth drains remove --help\n");
    for (const json of [["-o", "json"], ["-ojson"], ["--output=json"], ["--output", "json"]]) {
      const { code, out, err } = await cli(["get", "--nope", ...json]);
      expect(JSON.parse(out)).toEqual({ status: "error", error: 'unknown flag "--nope"; see: berth get --help' });
      expect([code, err]).toEqual([2, ""]);
    }
  });

  test("an unknown output format is refused", async () => {
    expect(await cli(["version", "-o", "yaml"])).toMatchObject({
      code: 2,
      err: 'error: no output format "yaml" of version: text or json\n',
    });
  });

  test("a wrong endpoint is refused before anything is sent", async () => {
    expect(await cli(["get", "--endpoint", "localhost"])).toMatchObject({ code: 2, calls: [] });
  });
});

test("only the first word is split at a colon", async () => {
  const { calls } = await cli(["config:set", "shop", "URL=redis:x", "--no-restart"], {
    server: () => ({ changed: [], restarting: [] }),
  });
  expect(calls[0]?.body).toEqual({ URL: "redis:x" });
  expect((await cli(["get", "a:b"], { server: () => [] })).calls[0]?.query).toMatchObject({ scope: "a:b" });
});

test("local commands get their words as they are", async () => {
  expect((await cli(["serve", "--root", "/x", "-o", "json"])).code).toBe(4);
  expect((await cli(["serve", "--help"])).code).toBe(1);
  expect((await cli(["help", "serve"])).code).toBe(1);
});

describe("version", () => {
  test("--version is ours alone", async () => {
    expect(await cli(["--version"])).toMatchObject({ out: "berth 1.2.3 (commit: abc)\n", code: 0, calls: [] });
  });

  test("shows both sides", async () => {
    const { out, code } = await cli(["version"], { server: health });
    expect(out).toBe("client  1.2.3 (commit: abc)\nserver  9.9.9\n");
    expect(code).toBe(0);
  });
});

describe("errors", () => {
  test("of the server are its text, and end with 1", async () => {
    expect(await cli(["get"], { server: () => refusal(503, "docker is away") })).toMatchObject({
      code: 1,
      out: "",
      err: "error: docker is away\n",
    });
  });

  test("of ours say that they are ours", async () => {
    const { code, err } = await cli(["get"], {
      server: () => {
        throw new SyntaxError("broken");
      },
    });
    expect(err).toContain("broken");
    expect(code).not.toBe(0);
  });
});

test("the overview names each verb once, below a heading", async () => {
  const { out } = await cli(["help"]);
  const own = out.slice(0, out.indexOf("on the server itself")).split("\n");
  for (const { name } of verbs) {
    expect([name, own.filter((line) => line.startsWith(`  ${name} `)).length]).toEqual([name, 1]);
  }
  const named = helpGroups.flatMap(([, names]) => names);
  expect(named).toEqual([...new Set(named)]);
});
