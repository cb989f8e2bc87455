import { expect, test } from "bun:test";
import { PluginError, type PluginHandlers, runPlugin, usage } from "../../../plugins/kit.ts";

const handlers: PluginHandlers = {
  expand: ({ input }) => ({ manifests: [{ kind: "asset", name: String(input.name), spec: {} }] }),
  help: () => ({ greet: "greet NAME" }),
  commands: {
    greet: async ({ args, input, env, progress }) => {
      progress("working");
      return { message: `${args.join(" ")} ${String(input.plugin)} ${env.LANG ?? ""}` };
    },
    fails: () => {
      throw new PluginError("the database is away");
    },
    misused: () => {
      throw usage("say which one");
    },
    breaks: () => {
      throw new TypeError("x is not a function");
    },
  },
};

async function ran(argv: string[], stdin = "{}") {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runPlugin(handlers, {
    argv,
    env: { LANG: "C" },
    stdin: async () => stdin,
    stdout: async (text) => out.push(text),
    stderr: (text) => err.push(text),
  });
  expect(out).toHaveLength(1);
  return { exitCode, envelope: JSON.parse(out[0] ?? ""), progress: err.join("") };
}

test("a command gets its words, its input and its environment, and answers with one envelope", async () => {
  expect(await ran(["greet", "a", "--b"], '{"plugin":"pg"}')).toEqual({
    exitCode: 0,
    envelope: { status: "ok", data: { message: "a --b pg C" } },
    progress: "working\n",
  });
});

test("expand answers with what it made", async () => {
  const { envelope } = await ran(["expand"], '{"name":"main"}');
  expect(envelope.data).toEqual({ manifests: [{ kind: "asset", name: "main", spec: {} }] });
});

test("errors are envelopes with an exit code: 1 for a fault, 2 for a wrong command line", async () => {
  expect(await ran(["fails"])).toMatchObject({
    exitCode: 1,
    envelope: { status: "error", error: "the database is away" },
  });
  expect(await ran(["misused"])).toMatchObject({ exitCode: 2, envelope: { error: "say which one" } });
  expect(await ran(["breaks"])).toMatchObject({ exitCode: 1, envelope: { error: "x is not a function" } });
});

test("an unknown command names those that are there; names of the object's own are none", async () => {
  const { exitCode, envelope } = await ran(["toString"]);
  expect(exitCode).toBe(2);
  expect(envelope.error).toBe('unknown command "toString"; there are: breaks, fails, greet, misused');
});

test("no input at all is an empty object; anything else that is no object is a fault", async () => {
  expect((await ran(["greet"], " \n")).exitCode).toBe(0);
  for (const text of ["[]", "null", '"x"', "{"]) {
    const { exitCode, envelope } = await ran(["greet"], text);
    expect(exitCode).toBe(1);
    expect(envelope.error).toContain("standard input is not");
  }
});

test("-h tells how a command is written and does not run it; after -- it belongs to another program", async () => {
  expect((await ran(["greet", "x", "-h"])).envelope.data).toEqual({ message: "greet NAME" });
  expect((await ran(["greet", "--", "-h"])).envelope.data.message).toContain("-- -h");
  expect((await ran(["fails", "--help"])).envelope.error).toBe('no help for "fails"');
});
