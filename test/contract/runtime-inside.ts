import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { ContainerSpec } from "../../src/orchestration/core/workload.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import type { AttachOptions, ExecSession, ExecSpec, LogOptions } from "../../src/orchestration/engine/session.ts";
import { containerSpec } from "../support/container-spec.ts";
import { expectFailure } from "../support/failure.ts";
import { waitFor } from "../support/wait.ts";
import type { RuntimeSubject } from "./runtime.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

/** What the suite runs by `sh -c`; a subject without a shell does the same by other means. */
export const scripts = {
  both: "echo out; echo err >&2; exit 3",
  env: 'printf %s "$GREETING"',
  folder: "pwd",
  /** Says `<rows> <cols>` once a line has come in. */
  size: "read line; stty size",
  /** Far more than any buffer on the way. */
  flood: "head -c 4194304 /dev/zero; printf 'THE END'",
  floodBytes: 4_194_304,
};

/** What every `Runtime` promises about what is inside a container: commands, logs, exits, usage. */
export function insideContract(name: string, makeSubject: () => Promise<RuntimeSubject>): void {
  describe(`runtime contract, inside containers: ${name}`, () => {
    let subject: RuntimeSubject;
    let runtime: Engine;

    beforeAll(async () => {
      subject = await makeSubject();
      runtime = subject.runtime;
    });
    afterEach(() => subject.cleanUp());
    afterAll(() => runtime.close());

    const labelsOf = () => {
      const { label } = subject.names;
      return { [label.kind]: "deployment", [label.scope]: "shop", [label.name]: "web" };
    };
    const create = (text: string, change: Partial<ContainerSpec> = {}) =>
      runtime.create(
        containerSpec({ name: subject.unique(text), image: subject.image, networkMode: "none", ...change }),
      );
    const started = async (text: string, change: Partial<ContainerSpec> = {}) => {
      const id = await create(text, change);
      await runtime.start(id);
      return id;
    };
    const puppet = (text: string, change: Partial<ContainerSpec> = {}) =>
      started(text, { command: subject.puppet, ...change });
    const never = () => new AbortController().signal;

    describe("attached containers", () => {
      let made = 0;
      const attached = async (command: string[], change: Partial<AttachOptions> = {}) => {
        const options = { tty: false, interactive: false, graceMs: 1_000, ...change };
        const id = await create(`attached-${++made}`, {
          command,
          attach: options,
          restart: { name: "no", maximumRetryCount: 0 },
        });
        return { id, session: await runtime.startAttached(id, options) };
      };

      test("their output comes apart from its first byte on, and the exit code is the container's", async () => {
        const { id, session } = await attached(["sh", "-c", scripts.both]);
        expect(await outputOf(session)).toEqual({ stdout: "out\n", stderr: "err\n" });
        expect(await session.exitCode()).toBe(3);
        expect((await runtime.inspect(id))?.state).toBe("exited");
      });

      test("input arrives whole, and its end ends the process", async () => {
        const { session } = await attached(["cat"], { interactive: true });
        const output = outputOf(session);
        const lines = Array.from({ length: 2_000 }, (_, index) => `${index} ${"x".repeat(200)}\n`);
        await Promise.all(lines.map((line) => session.write(Buffer.from(line))));
        session.endInput();
        expect((await output).stdout).toBe(lines.join(""));
        expect(await session.exitCode()).toBe(0);
      });

      test("a terminal has the size given, and a later one", async () => {
        const size = { rows: 33, cols: 99 };
        const { session: first } = await attached(["sh", "-c", scripts.size], { tty: true, interactive: true, size });
        await first.write(Buffer.from("\n"));
        expect((await outputOf(first)).stdout).toContain("33 99");
        const { session: second } = await attached(["sh", "-c", scripts.size], { tty: true, interactive: true, size });
        await second.resize({ rows: 44, cols: 111 });
        await second.write(Buffer.from("\n"));
        expect((await outputOf(second)).stdout).toContain("44 111");
        await second.exitCode();
        await second.resize({ rows: 1, cols: 1 });
      });

      test("kill stops the container, as often as asked", async () => {
        const { id, session } = await attached(["sleep", "600"], { interactive: true });
        const output = outputOf(session);
        await Promise.all([session.kill(), session.kill()]);
        await output;
        expect((await runtime.inspect(id))?.state).toBe("exited");
        expect(await session.exitCode()).toBeGreaterThan(0);
        await runtime.remove(id);
        await session.kill();
      });

      test("a program that is not there, and a container that is not there, are told apart", async () => {
        const unknown = await expectFailure(attached(["no-such-program"]), "conflict");
        expect(unknown.message).toContain("executable file not found");
        expect(unknown.fields).toMatchObject({ exit_code: 127 });
        const options = { tty: false, interactive: false, graceMs: 0 };
        await expectFailure(runtime.startAttached(podRef(subject.unique("none")), options), "not_found");
      });
    });

    describe("commands", () => {
      const plain: ExecSpec = { command: [], env: [], tty: false, interactive: false };
      const exec = (id: string, command: string[], change: Partial<ExecSpec> = {}) =>
        runtime.exec(podRef(id), { ...plain, ...change, command });
      const sh = (id: string, script: string, change: Partial<ExecSpec> = {}) => exec(id, ["sh", "-c", script], change);

      test("both streams come apart, and the exit code with them", async () => {
        const session = await sh((await started("a")).id, scripts.both);
        expect(session.id).not.toBe("");
        expect(await outputOf(session)).toEqual({ stdout: "out\n", stderr: "err\n" });
        expect(await session.exitCode()).toBe(3);
        expect(await session.exitCode()).toBe(3);
      });

      test("on a terminal there is one stream", async () => {
        const session = await sh((await started("a")).id, scripts.both, { tty: true });
        const { stdout, stderr } = await outputOf(session);
        expect(stdout.replaceAll("\r", "")).toBe("out\nerr\n");
        expect(stderr).toBe("");
        expect(await session.exitCode()).toBe(3);
      });

      test("input arrives whole and in order, and its end ends the command", async () => {
        const session = await exec((await started("a")).id, ["cat"], { interactive: true });
        const output = outputOf(session);
        const lines = Array.from({ length: 2_000 }, (_, index) => `${index} ${"x".repeat(200)}\n`);
        await Promise.all(lines.map((line) => session.write(Buffer.from(line))));
        session.endInput();
        expect((await output).stdout).toBe(lines.join(""));
        expect(await session.exitCode()).toBe(0);
      });

      test("without interactive there is no input to wait for", async () => {
        const session = await exec((await started("a")).id, ["cat"]);
        expect(await outputOf(session)).toEqual({ stdout: "", stderr: "" });
        expect(await session.exitCode()).toBe(0);
      });

      test("environment and working folder are the ones given", async () => {
        const id = await started("a");
        const env = await sh(id.id, scripts.env, { env: ["GREETING=hello = world"] });
        expect((await outputOf(env)).stdout).toBe("hello = world");
        const folder = await sh(id.id, scripts.folder, { workdir: "/proc" });
        expect((await outputOf(folder)).stdout).toBe("/proc\n");
      });

      test("the terminal has the size given, and a later one", async () => {
        const id = await started("a");
        const size = { rows: 33, cols: 99 };
        const first = await sh(id.id, scripts.size, { tty: true, interactive: true, size });
        await first.write(Buffer.from("\n"));
        expect((await outputOf(first)).stdout).toContain("33 99");
        const second = await sh(id.id, scripts.size, { tty: true, interactive: true, size });
        await second.resize({ rows: 44, cols: 111 });
        await second.write(Buffer.from("\n"));
        expect((await outputOf(second)).stdout).toContain("44 111");
        await second.exitCode();
        await second.resize({ rows: 1, cols: 1 });
      });

      test("a reader that is slow gets everything to the last byte", async () => {
        const session = await sh((await started("a")).id, scripts.flood);
        let bytes = 0;
        let tail = "";
        for await (const part of session.output) {
          if (bytes === 0) await Bun.sleep(300);
          bytes += part.bytes.length;
          tail = (tail + Buffer.from(part.bytes.subarray(-7)).toString("latin1")).slice(-7);
        }
        expect({ bytes, tail }).toEqual({ bytes: scripts.floodBytes + 7, tail: "THE END" });
        expect(await session.exitCode()).toBe(0);
      });

      test("what it cannot run in is told apart, with the name", async () => {
        const missing = await expectFailure(exec(subject.unique("none"), ["echo"]), "not_found");
        expect(missing.message).toContain(`"${subject.unique("none")}"`);
        const stopped = await create("a");
        const refused = await expectFailure(exec(stopped.id, ["echo"]), "conflict");
        expect(refused.message).toContain("is not running");
        const running = await started("b");
        const unknown = await expectFailure(exec(running.id, ["no-such-program"]), "conflict");
        expect(unknown.message).toContain('"no-such-program"');
        expect(unknown.message).toContain("executable file not found");
        expect(unknown.fields).toMatchObject({ exit_code: 127 });
        await expectFailure(exec(running.id, ["no-such-program"], { tty: true }), "conflict");
      });

      test("kill ends it, as often as asked, also when it has ended", async () => {
        const id = await started("a");
        const session = await exec(id.id, ["sleep", "600"], { interactive: true });
        const output = outputOf(session);
        await Promise.all([session.kill(), session.kill()]);
        await session.kill();
        expect(await output).toEqual({ stdout: "", stderr: "" });
        expect(await session.exitCode()).toBe(129);
        await expectFailure(session.write(Buffer.from("x")), "conflict");
        const done = await exec(id.id, ["echo", "hi"]);
        expect((await outputOf(done)).stdout).toBe("hi\n");
        await done.exitCode();
        await done.kill();
        expect(await done.exitCode()).toBe(0);
      });

      test("input for a command that has ended is refused", async () => {
        const session = await exec((await started("a")).id, ["echo", "hi"], { interactive: true });
        await outputOf(session);
        await session.exitCode();
        await expectFailure(session.write(Buffer.from("late")), "conflict");
        session.endInput();
      });

      test("the end of the container is the end of the command", async () => {
        const id = await started("a");
        const session = await exec(id.id, ["sleep", "600"]);
        const output = outputOf(session);
        await runtime.stop(id, { graceMs: 0 });
        await output;
        expect(await session.exitCode()).toBe(137);
      });

      test("a check says how it ended, each time anew, also when several run at a time", async () => {
        const id = await started("a");
        // Two streams come in any order.
        const check = async (command: string[]) => {
          const { exitCode, output } = await runtime.check(id, command, never());
          return { exitCode, lines: output.split("\n").sort() };
        };
        const all = [["sh", "-c", scripts.both], ["cat"], ["sh", "-c", scripts.both]];
        for (let round = 0; round < 2; round += 1) {
          expect(await Promise.all(all.map(check))).toEqual([
            { exitCode: 3, lines: ["err", "out"] },
            { exitCode: 0, lines: [""] },
            { exitCode: 3, lines: ["err", "out"] },
          ]);
        }
        const { output } = await runtime.check(id, ["sh", "-c", scripts.flood], never());
        expect(output.length).toBeLessThanOrEqual(200);
      });

      test("a check that takes too long is ended, and the next one is none the worse", async () => {
        const id = await started("a");
        for (let round = 0; round < 2; round += 1) {
          await expect(runtime.check(id, ["sleep", "600"], AbortSignal.timeout(300))).rejects.toThrow();
          expect(await runtime.check(id, ["cat"], never())).toEqual({ exitCode: 0, output: "" });
        }
      });

      test("what a check cannot run in is told apart as for any command", async () => {
        await expectFailure(runtime.check(podRef(subject.unique("none")), ["cat"], never()), "not_found");
        await expectFailure(runtime.check(await create("a"), ["cat"], never()), "conflict");
        const id = await started("b");
        for (let round = 0; round < 2; round += 1) {
          const unknown = await expectFailure(runtime.check(id, ["no-such-program"], never()), "conflict");
          expect(unknown.message).toContain("executable file not found");
        }
      });

      test("many at once do not mix", async () => {
        const id = await started("a");
        const sessions = await Promise.all([1, 2, 3, 4, 5, 6].map((index) => exec(id.id, ["echo", `number ${index}`])));
        const outputs = await Promise.all(sessions.map(outputOf));
        expect(outputs.map(({ stdout }) => stdout)).toEqual([1, 2, 3, 4, 5, 6].map((index) => `number ${index}\n`));
      });
    });

    describe("logs", () => {
      const all: LogOptions = { follow: false, tail: undefined, since: undefined, timestamps: false };
      const read = async (id: string, change: Partial<LogOptions> = {}) => {
        const chunks = await Array.fromAsync(runtime.logs(podRef(id), { ...all, ...change }, never()));
        return Buffer.concat(chunks).toString();
      };
      const talked = async (id: string, lines: string[]) => {
        for (const line of lines) await subject.talk(id, `${line}\n`);
        await waitFor("the log", async () => (await read(id)).includes(lines.at(-1) ?? ""));
      };

      test("everything that was said, or the last lines of it", async () => {
        const id = await puppet("a");
        await talked(id.id, ["one", "two", "three"]);
        expect(await read(id.id)).toBe("one\ntwo\nthree\n");
        expect(await read(id.id, { tail: 2 })).toBe("two\nthree\n");
        expect(await read(id.id, { tail: 0 })).toBe("");
        expect(await read(id.id, { tail: 100 })).toBe("one\ntwo\nthree\n");
        expect(await read(subject.unique("a"), { tail: 1 })).toBe("three\n");
      });

      test("each line has its time when asked, and what is older than asked is left out", async () => {
        const id = await puppet("a");
        await talked(id.id, ["old"]);
        const at = Date.parse((await read(id.id, { timestamps: true })).split(" ")[0] ?? "");
        expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
        await Bun.sleep(20);
        const since = Date.now();
        await Bun.sleep(20);
        await talked(id.id, ["new"]);
        expect(await read(id.id, { since })).toBe("new\n");
        expect(await read(id.id, { since, timestamps: true })).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z new\n$/);
        expect(await read(id.id, { since: 0 })).toBe("old\nnew\n");
      });

      test("follows until the container ends, and is still there after", async () => {
        const id = await puppet("a");
        await talked(id.id, ["before"]);
        const followed = read(id.id, { follow: true });
        const fresh = read(id.id, { follow: true, tail: 0 });
        await Bun.sleep(100);
        await subject.talk(id.id, "after\n");
        await waitFor("the log", async () => (await read(id.id)).includes("after"));
        await subject.leave(id.id, 0);
        expect(await followed).toBe("before\nafter\n");
        expect(await fresh).toBe("after\n");
        expect(await read(id.id, { follow: true })).toBe("before\nafter\n");
      });

      test("an abort ends it without an error: before, while it waits, and while nobody reads", async () => {
        const id = await puppet("a");
        await talked(id.id, ["line"]);
        const following = { ...all, follow: true };
        for await (const _ of runtime.logs(id, following, AbortSignal.abort())) throw new Error("nothing was to come");
        const stop = new AbortController();
        const seen: string[] = [];
        for await (const bytes of runtime.logs(id, following, stop.signal)) {
          seen.push(Buffer.from(bytes).toString());
          setTimeout(() => stop.abort(), 20);
        }
        expect(seen.join("")).toBe("line\n");
        const unread = new AbortController();
        for await (const _ of runtime.logs(id, following, unread.signal)) unread.abort();
      });

      test("of nothing are not there", async () => {
        const missing = runtime.logs(podRef(subject.unique("none")), all, never());
        const failure = await expectFailure(Array.fromAsync(missing), "not_found");
        expect(failure.message).toContain(`"${subject.unique("none")}"`);
      });
    });

    describe("exits", () => {
      test("every waiter is told the exit code once the container has ended", async () => {
        const id = await puppet("a");
        const waiting = [runtime.wait(id, never()), runtime.wait(podRef(subject.unique("a")), never())];
        await subject.leave(id.id, 7);
        const told = await Promise.all(waiting);
        const { finishedAt } = (await runtime.inspect(id)) ?? {};
        expect(finishedAt).toBeNumber();
        const exit = { exitCode: 7, oomKilled: false, error: "", finishedAt };
        expect(told).toEqual([exit, exit]);
        expect(await runtime.wait(id, never())).toEqual(exit);
      });

      test("a stop is an exit too", async () => {
        const id = await started("a", { restart: { name: "always", maximumRetryCount: 0 } });
        const waiting = runtime.wait(id, never());
        await runtime.stop(id, { graceMs: 0 });
        expect((await waiting).exitCode).toBeGreaterThan(0);
      });

      test("what is not there, never ran, or goes away is told", async () => {
        await expectFailure(runtime.wait(podRef(subject.unique("none")), never()), "not_found");
        const failure = await expectFailure(runtime.wait(await create("a"), never()), "conflict");
        expect(failure.message).toContain("never started");
        const id = await started("b");
        const waiting = runtime.wait(id, never());
        await Promise.all([expectFailure(waiting, "not_found"), Bun.sleep(50).then(() => runtime.remove(id))]);
      });

      test("an abort rejects with its reason, before and while it waits", async () => {
        const id = await started("a");
        const reason = new Error("enough");
        await expect(runtime.wait(id, AbortSignal.abort(reason))).rejects.toBe(reason);
        const stop = new AbortController();
        const waiting = runtime.wait(id, stop.signal);
        setTimeout(() => stop.abort(reason), 50);
        await expect(waiting).rejects.toBe(reason);
      });
    });

    describe("usage", () => {
      test("is told of running containers of this installation, with name and identity", async () => {
        const memoryBytes = 64 * 1024 * 1024;
        const id = await started("a", { memoryBytes, labels: labelsOf() });
        const free = await started("b");
        await create("c");
        const stopped = await started("d");
        await runtime.stop(stopped, { graceMs: 0 });
        const rows = (await runtime.usage()).sort((one, two) => one.name.localeCompare(two.name));
        expect(rows.map(({ name }) => name)).toEqual([subject.unique("a"), subject.unique("b")]);
        const [limited, unlimited] = rows;
        expect(limited).toMatchObject({
          ...id,
          memoryLimitBytes: memoryBytes,
          identity: { key: { kind: "deployment" } },
        });
        expect(unlimited).toMatchObject(free);
        expect(unlimited?.memoryLimitBytes).toBeGreaterThan(memoryBytes);
        for (const { cpuNanos, memoryBytes: used, pids, at } of rows) {
          expect(cpuNanos).toBeGreaterThanOrEqual(0);
          expect(used).toBeGreaterThanOrEqual(0);
          expect(pids).toBeGreaterThan(0);
          expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
        }
      });

      test("goes on where it was after a restart, and forgets what was removed", async () => {
        const id = await started("a");
        expect(await runtime.usage()).toHaveLength(1);
        await runtime.stop(id, { graceMs: 0 });
        expect(await runtime.usage()).toEqual([]);
        await runtime.start(id);
        expect(await runtime.usage()).toMatchObject([id]);
        await runtime.remove(id);
        expect(await runtime.usage()).toEqual([]);
      });
    });
  });
}

/** All that a command says. */
export async function outputOf({ output }: ExecSession): Promise<{ stdout: string; stderr: string }> {
  const parts: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  for await (const { stream, bytes } of output) parts[stream].push(bytes);
  return { stdout: Buffer.concat(parts.stdout).toString(), stderr: Buffer.concat(parts.stderr).toString() };
}
