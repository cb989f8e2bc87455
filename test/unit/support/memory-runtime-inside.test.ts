import { beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createMemoryRuntime, type MemoryRuntime } from "../../support/memory-runtime.ts";
import type { ExecSpec, LogOptions } from "../../../src/orchestration/engine/session.ts";
import { outputOf } from "../../contract/runtime-inside.ts";
import { containerSpec } from "../../support/container-spec.ts";
import { expectFailure } from "../../support/failure.ts";
import { podRef } from "../../../src/orchestration/engine/identity.ts";

/** The knobs of the fake for what is inside containers; what it shares with Docker is in the contract suite. */
let runtime: MemoryRuntime;
beforeEach(() => {
  runtime = createMemoryRuntime();
  runtime.addImage("app:1");
});
const run = async (name: string, change = {}) => {
  const id = await runtime.create(containerSpec({ name, image: "app:1", ...change }));
  await runtime.start(id);
  return id;
};
const always = { restart: { name: "always" as const, maximumRetryCount: 0 } };
const never = () => new AbortController().signal;

describe("onExec", () => {
  const spec: ExecSpec = { command: ["ls", "-l"], env: [], tty: false, interactive: true };

  test("without a handler every command ends with 0 and says nothing", async () => {
    await run("a");
    const session = await runtime.exec(podRef("a"), spec);
    expect(await outputOf(session)).toEqual({ stdout: "", stderr: "" });
    expect(await session.exitCode()).toBe(0);
    expect(runtime.calls).toContain("exec a ls -l");
  });

  test("the handler gets the call, and may refuse it in its own words", async () => {
    const id = await run("a");
    runtime.onExec(({ container, spec: asked }) => {
      throw new Failure("conflict", `${container} has no ${asked.command[0]}`);
    });
    expect((await expectFailure(runtime.exec(id, spec), "conflict")).message).toBe("a has no ls");
  });

  test("a program that fails is a failed exec, not a crash of the fake", async () => {
    await run("a");
    runtime.onExec(() => () => {
      throw new Error("bug in the test");
    });
    const session = await runtime.exec(podRef("a"), spec);
    expect(await outputOf(session)).toEqual({ stdout: "", stderr: "" });
    await expect(session.exitCode()).rejects.toThrow("bug in the test");
  });

  test("a killed program is told, and what it says after is not heard", async () => {
    await run("a");
    const told = Promise.withResolvers<void>();
    runtime.onExec(() => async ({ killed, stdout }) => {
      await stdout("begun");
      await new Promise((resolve) => killed.addEventListener("abort", resolve));
      await stdout("unheard");
      told.resolve();
      return 0;
    });
    const session = await runtime.exec(podRef("a"), spec);
    const output = outputOf(session);
    await Bun.sleep(1);
    await session.kill();
    await told.promise;
    expect((await output).stdout).toBe("begun");
    expect(await session.exitCode()).toBe(129);
  });

  test("a restart of the container ends its commands", async () => {
    await run("a", always);
    runtime.onExec(() => () => new Promise(() => undefined));
    const session = await runtime.exec(podRef("a"), spec);
    runtime.crash("a");
    expect(await session.exitCode()).toBe(137);
  });

  test("an engine that goes down takes the connections with it, and new ones are refused", async () => {
    await run("a");
    runtime.onExec(() => () => new Promise(() => undefined));
    const session = await runtime.exec(podRef("a"), spec);
    const output = outputOf(session);
    runtime.engineDown();
    await output;
    await expectFailure(session.exitCode(), "unavailable");
    await expectFailure(runtime.exec(podRef("a"), spec), "unavailable");
    runtime.engineUp();
    runtime.fail("exec", new Failure("timeout", "slow"), 1);
    await expectFailure(runtime.exec(podRef("a"), spec), "timeout");
  });
});

describe("writeLog", () => {
  const all: LogOptions = { follow: false, tail: undefined, since: undefined, timestamps: false };
  const read = async (change: Partial<LogOptions> = {}) =>
    Buffer.concat(await Array.fromAsync(runtime.logs(podRef("a"), { ...all, ...change }, never()))).toString();

  test("counts lines, not writes", async () => {
    await run("a");
    runtime.writeLog("a", "one\ntwo\n\nthree");
    expect(await read()).toBe("one\ntwo\n\nthree");
    expect(await read({ tail: 2 })).toBe("\nthree");
  });

  test("a follower of one run does not see the next, which keeps the log", async () => {
    await run("a", always);
    runtime.writeLog("a", "first\n");
    const followed = read({ follow: true });
    await Bun.sleep(1);
    runtime.crash("a");
    runtime.writeLog("a", "second\n");
    expect(await read()).toBe("first\nsecond\n");
    expect(await followed).toStartWith("first\n");
  });

  test("a removed container takes its log along, also when another gets its name", async () => {
    await run("a");
    runtime.writeLog("a", "old\n");
    runtime.removeByHand("a");
    expect(() => runtime.writeLog("a", "x")).toThrow('container "a" does not exist');
    await run("a");
    expect(await read()).toBe("");
  });

  test("an engine that goes down breaks off what is read, and refuses what is to be read", async () => {
    await run("a");
    const followed = read({ follow: true });
    await Bun.sleep(1);
    runtime.engineDown();
    await expectFailure(followed, "unavailable");
    await expectFailure(read(), "unavailable");
    runtime.engineUp();
    expect(await read()).toBe("");
  });
});

describe("finish", () => {
  test("ends a job with its code, and is followed by the restart policy", async () => {
    await run("job");
    await run("pod", always);
    const waiting = runtime.wait(podRef("job"), never());
    runtime.finish("job", 4);
    expect((await waiting).exitCode).toBe(4);
    runtime.finish("pod", 0);
    expect(await runtime.inspect(podRef("pod"))).toMatchObject({ state: "running", restartCount: 1 });
  });

  test("a wait goes on over a restart, a new name and an engine that was away", async () => {
    await run("a", always);
    let exit: unknown;
    const waiting = runtime.wait(podRef("a"), never()).then((value) => {
      exit = value;
    });
    await Bun.sleep(1);
    runtime.crash("a", 1);
    runtime.renameByHand("a", "b");
    runtime.engineDown();
    await Bun.sleep(1);
    expect(exit).toBeUndefined();
    runtime.kill("b", 9);
    await Bun.sleep(1);
    expect(exit).toBeUndefined();
    runtime.engineUp();
    await waiting;
    expect(exit).toMatchObject({ exitCode: 9, oomKilled: false, error: "" });
  });

  test("a wait begun while the engine is away begins when it is back, or ends with its signal", async () => {
    await run("a");
    runtime.engineDown();
    const stop = new AbortController();
    const given = runtime.wait(podRef("a"), stop.signal);
    const waiting = runtime.wait(podRef("a"), never());
    stop.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    runtime.engineUp();
    runtime.crash("a", 3, { oomKilled: true });
    expect(await waiting).toMatchObject({ exitCode: 3, oomKilled: true, error: "" });
    runtime.fail("wait", new Failure("timeout", "slow"), 1);
    await expectFailure(runtime.wait(podRef("a"), never()), "timeout");
  });
});

describe("setUsage", () => {
  test("says what usage tells, field by field, for as long as the container is there", async () => {
    await run("a");
    runtime.setUsage("a", { cpuNanos: 5, memoryBytes: 6 });
    runtime.setUsage("a", { cpuNanos: 7 });
    expect(await runtime.usage()).toMatchObject([{ name: "a", cpuNanos: 7, memoryBytes: 6, pids: 1 }]);
    await runtime.remove(podRef("a"));
    await run("a");
    expect(await runtime.usage()).toMatchObject([{ name: "a", cpuNanos: 0, memoryBytes: 0 }]);
    runtime.fail("usage", new Failure("unavailable", "gone"), 1);
    await expectFailure(runtime.usage(), "unavailable");
  });
});
