import { afterEach, beforeEach, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { thrownBy } from "../../../../support/failure.ts";
import { testPlugins, writePlugin } from "../../../../support/plugins.ts";
import { isAlive, waitFor } from "../../../../support/wait.ts";
import { type World, world } from "../../../../support/world.ts";

const runVariable = `PLUGIN_RUN_TEST_${process.pid}`;
let it: World;
let verified: string[];
let refuse: Error | undefined;
beforeEach(async () => {
  verified = [];
  refuse = undefined;
  const verify = async ({ yml }: { yml: { name: string } }) => {
    verified.push(yml.name);
    if (refuse !== undefined) throw refuse;
  };
  it = await world({ plugins: (layout) => testPlugins(layout, { runVariable, owner: "me", installer: { verify } }) });
});
afterEach(() => it.close());

const dispatch = (command: string, args: string[] = []) =>
  it.controller.dispatchPlugin({ plugin: "p", command, body: { args } }, { actor: "ana", restart: true });
const runs = async () => (await it.controller.listPluginRuns({ plugin: undefined, limit: 10 })).runs;

test("a run is kept: who, what, how it ended, and the last it said", async () => {
  const lines = 'i=0; while [ $i -lt 100 ]; do echo "line $i" >&2; i=$((i+1)); done';
  writePlugin(it.layout, "p", { yml: "name: p\nversion: '2'\n", commands: { go: `${lines}; exit 3` } });
  await thrownBy(() => dispatch("go", ["s/web", "--force"]));
  const [run] = await runs();
  expect(run).toMatchObject({
    plugin: "p",
    version: "2",
    command: "go",
    args: ["s/web", "--force"],
    actor: "ana",
    status: "failed",
    exit_code: 3,
    applied: [],
  });
  expect(run?.tail).toHaveLength(50);
  expect(run?.tail.at(-1)).toBe("line 99");
});

test("files are compared before each run, and a plugin that is disabled or altered does not run", async () => {
  writePlugin(it.layout, "p", { commands: { go: "echo ran > here" } });
  refuse = new Error("altered");
  await expect(dispatch("go")).rejects.toThrow("altered");
  expect(await Bun.file(`${it.layout.plugins}/p/here`).exists()).toBe(false);
  expect(await runs()).toEqual([]);
  refuse = undefined;
  await dispatch("go");
  expect(verified).toEqual(["p", "p"]);
});

test("what a server that died left behind is ended, and told as interrupted", async () => {
  const id = `left-${process.pid}`;
  const left = (value: string) => Bun.spawn(["sleep", "600"], { env: { PATH: "/usr/bin:/bin", [runVariable]: value } });
  // The hook of an install has no record.
  const [orphan, hook, other] = [left(`me.${id}`), left("me.hook"), left(`you.${id}`)];
  const run = { id, plugin: "p", version: "", command: "go", args: [], actor: "ana", status: "running" as const };
  const rest = { startedAt: 1, endedAt: undefined, exitCode: undefined, error: undefined, applied: [], tail: [] };
  await it.store.write((tx) => tx.pluginRuns.put({ ...run, ...rest }));
  await it.restart();
  await waitFor("the processes to be ended", () => !isAlive(orphan.pid) && !isAlive(hook.pid));
  expect(isAlive(other.pid)).toBe(true);
  other.kill("SIGKILL");
  await waitFor("the record", async () => (await runs())[0]?.status === "interrupted");
  expect(await runs()).toMatchObject([{ run_id: id, error: "the server ended while it ran" }]);
});

test("words that no program can be started with, and files that are no programs, are told as such", async () => {
  writePlugin(it.layout, "p", { commands: { go: "echo ran", count: 'printf "%s" "$#"' } });
  await Bun.write(`${it.layout.plugins}/p/bin/plain`, "echo no first line\n");
  await Bun.$`chmod 755 ${it.layout.plugins}/p/bin/plain`;
  const failure = async (command: string, args: string[] = []) => {
    const error = await thrownBy(() => dispatch(command, args));
    return error instanceof Failure ? [error.code, error.message] : error;
  };
  expect(await failure("go", ["x", "y".repeat(200_000)])).toEqual([
    "invalid",
    "args[1]: 200000 bytes; at most 131071 are allowed, hand it over in a file or in the config",
  ]);
  const many = Array.from({ length: 20 }, () => "y".repeat(100_000));
  expect(await failure("go", many)).toEqual(["invalid", expect.stringContaining("args: 2000000 bytes in all")]);
  // What is allowed can be started.
  const words = [...Array.from({ length: 7 }, () => "y".repeat(131_071)), ...Array.from({ length: 190 }, () => "z")];
  expect((await dispatch("count", words)).message).toBe("197");
  const [code, message] = (await failure("plain")) as [string, string];
  expect(code).toBe("invalid");
  expect(message).toContain('/p/bin/plain" cannot run on this machine and has no first line such as #!/bin/sh');
});

test("where a proxy is in the way, a run reaches the containers without it", async () => {
  await it.close();
  const environment = { PATH: "/usr/bin:/bin", https_proxy: "http://p:1", no_proxy: "a.test" };
  it = await world({ plugins: (layout) => ({ ...testPlugins(layout), environment }) });
  await it.runtime.ensureNetwork("berth0");
  writePlugin(it.layout, "p", { commands: { go: "echo $no_proxy $NO_PROXY $https_proxy" } });
  const [subnet] = await it.runtime.networkSubnets("berth0");
  const direct = `a.test,localhost,127.0.0.1,::1,127.0.0.0/8,${subnet}`;
  expect((await dispatch("go")).message).toBe(`${direct} ${direct} http://p:1`);
});
