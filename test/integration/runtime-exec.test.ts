import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import { createDockerClient } from "../../src/orchestration/engine/docker/client.ts";
import { killFromInside, readExec } from "../../src/orchestration/engine/docker/exec-kill.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import type { ExecSession, ExecSpec } from "../../src/orchestration/engine/session.ts";
import { outputOf } from "../contract/runtime-inside.ts";
import { containerSpec } from "../support/container-spec.ts";
import { requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { expectFailure } from "../support/failure.ts";
import { isAlive, waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

setDefaultTimeout(30_000);

/** Through a slow reader, in megabytes; a soak run asks for more. */
const megabytes = Number(process.env.BERTH_TEST_STREAM_MB ?? 32);

/** What only real processes can show of commands in containers. */
describe("docker exec", () => {
  let place: Scratch;
  let runtime: Engine;
  beforeAll(() => {
    place = scratch();
    runtime = createDockerEngine({
      host: requireDocker(),
      installationId: place.installationId,
      names: place.names,
      timeouts: { execKillGraceMs: 400 },
    });
  });
  afterEach(() => place.cleanUp());
  afterAll(() => runtime.close());

  const started = async (change = {}) => {
    const id = await runtime.create(containerSpec({ name: place.unique("a"), networkMode: "none", ...change }));
    await runtime.start(id);
    return id;
  };
  const sh = (id: string, script: string, change: Partial<ExecSpec> = {}) =>
    runtime.exec(podRef(id), { command: ["sh", "-c", script], env: [], tty: false, interactive: false, ...change });
  /** Host pids of all processes of the container but its first. */
  const others = async (id: string) => {
    const first = (await runtime.inspect(podRef(id)))?.pid;
    const { Processes } = await place.docker.getContainer(id).top({ ps_args: "-eo pid" });
    return (Processes as string[][]).map(([pid]) => Number(pid)).filter((pid) => pid !== first);
  };

  test.each([
    ["a user", { user: "nobody-here" }, "nobody-here"],
    ["a folder", { workdir: "/no/such/folder" }, "/no/such/folder"],
    ["a program that may be run", { command: ["/etc"] }, "permission denied"],
  ])("%s that it does not have is told with the engine's words", async (_what, change, words) => {
    const id = await started();
    const failure = await expectFailure(sh(id.id, "echo hi", change), "conflict");
    expect(failure.message).toContain(words);
    const terminal = await expectFailure(sh(id.id, "echo hi", { ...change, tty: true }), "conflict");
    expect(terminal.message).toContain(words);
  });

  test("a program that says 126 or 127 by itself is no refusal", async () => {
    const id = await started();
    for (const code of [126, 127]) {
      const session = await sh(id.id, `echo OCI runtime exec failed; exit ${code}`);
      expect((await outputOf(session)).stdout).toBe("OCI runtime exec failed\n");
      expect(await session.exitCode()).toBe(code);
    }
  });

  describe("checks", () => {
    const check = (id: string, command: string[]) => runtime.check(podRef(id), command, new AbortController().signal);
    const passed = { exitCode: 0, output: "" };

    test("share one process, which no command can end, and which ends with the runtime", async () => {
      const id = await started();
      const shells = [];
      for (let round = 0; round < 3; round += 1) {
        expect(await check(id.id, ["sh", "-c", "kill -HUP $$"])).toEqual({ exitCode: 129, output: "" });
        shells.push(...(await others(id.id)));
      }
      expect(new Set(shells).size).toBe(1);
      const { names, installationId } = place;
      const other = createDockerEngine({ host: requireDocker(), installationId, names });
      await other.check(id, ["true"], new AbortController().signal);
      expect((await others(id.id)).length).toBe(2);
      await other.close();
      await waitFor("its shell to end", async () => (await others(id.id)).length === 1);
    });

    test("go on after a restart of the container, and when their process was killed", async () => {
      const id = await started();
      expect(await check(id.id, ["true"])).toEqual(passed);
      for (const pid of await others(id.id)) process.kill(pid, "SIGKILL");
      expect(await check(id.id, ["true"])).toEqual(passed);
      await runtime.stop(id, { graceMs: 0 });
      await expectFailure(check(id.id, ["true"]), "conflict");
      await runtime.start(id);
      expect(await check(id.id, ["true"])).toEqual(passed);
    });

    test("see the environment of the container, each time", async () => {
      const id = await started({ env: { code: "a", mark: "b" } });
      for (let round = 0; round < 2; round += 1)
        expect(await check(id.id, ["sh", "-c", "echo $code $mark"])).toEqual({ exitCode: 0, output: "a b" });
    });

    test("of one command at the same time leave no shell behind that is not used again", async () => {
      const id = await started();
      for (let round = 0; round < 2; round += 1) {
        const some = await Promise.all(Array.from({ length: 10 }, () => check(id.id, ["echo", "x"])));
        expect(some).toEqual(some.map(() => ({ exitCode: 0, output: "x" })));
        expect((await others(id.id)).length).toBe(3);
      }
    });

    test("that end their process group run once", async () => {
      const id = await started();
      const ends = ["sh", "-c", "echo run >> /tmp/runs; trap 'kill 0' EXIT"];
      expect(await check(id.id, ends)).toEqual({ exitCode: 143, output: "" });
      expect(await check(id.id, ["cat", "/tmp/runs"])).toEqual({ exitCode: 0, output: "run" });
    });

    test("have an answer while something that they left running prints", async () => {
      const id = await started();
      const noisy = ["sh", "-c", "[ -e /tmp/on ] || { >/tmp/on; while :; do printf x; done & }"];
      for (let round = 0; round < 200; round += 1) expect((await check(id.id, noisy)).exitCode).toBe(0);
    });

    test("leave nothing behind that was too slow", async () => {
      const id = await started();
      const slow = ["sh", "-c", "sleep 600 & sleep 600"];
      await expect(runtime.check(id, slow, AbortSignal.timeout(300))).rejects.toThrow();
      await waitFor("its processes to end", async () => (await others(id.id)).length === 0);
    });

    test("work in an image without a shell", async () => {
      const id = await started();
      expect(await check(id.id, ["rm", "/bin/sh"])).toEqual(passed);
      for (const pid of await others(id.id)) process.kill(pid, "SIGKILL");
      for (let round = 0; round < 2; round += 1) {
        expect(await check(id.id, ["true"])).toEqual(passed);
        expect(await others(id.id)).toEqual([]);
      }
    });
  });

  test("runs as the user given", async () => {
    const session = await sh((await started()).id, "id -u", { user: "65534" });
    expect((await outputOf(session)).stdout).toBe("65534\n");
  });

  test("a secret of its environment is not in the way to the engine", async () => {
    const env = Array.from({ length: 12 }, (_, index) => `V${index}=${"x".repeat(100_000)}`);
    const session = await sh((await started()).id, 'echo "${#V0} ${#V11}"', { env });
    expect((await outputOf(session)).stdout).toBe("100000 100000\n");
  });

  test("it sees no variable that it was not given", async () => {
    const session = await sh((await started()).id, "env", { env: ["GIVEN=1"] });
    const keys = (await outputOf(session)).stdout
      .trim()
      .split("\n")
      .map((row) => row.split("=")[0]);
    expect(keys).toContain("GIVEN");
    expect(keys.filter((key) => key?.startsWith(place.names.envPrefix))).toEqual([]);
  });

  test("the last bytes come through after a half-close, to a reader that was not looking", async () => {
    const session = await sh((await started()).id, "cat; head -c 200000 /dev/zero; printf END", { interactive: true });
    await session.write(Buffer.from("x".repeat(100_000)));
    session.endInput();
    await Bun.sleep(600);
    const { stdout } = await outputOf(session);
    expect(stdout.length).toBe(300_003);
    expect(stdout.endsWith("END")).toBe(true);
  });

  test(`${megabytes} MB through a slow reader stay out of our memory`, async () => {
    const bytes = megabytes * 1_000_000;
    const session = await sh((await started()).id, `head -c ${bytes} /dev/zero; printf END >&2`);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let [read, peak, tail] = [0, 0, ""];
    for await (const { stream, bytes: part } of session.output) {
      if (read === 0) await Bun.sleep(1_000);
      if (stream === "stderr") tail += Buffer.from(part).toString();
      read += part.length;
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    expect({ read, tail }).toEqual({ read: bytes + 3, tail: "END" });
    expect((peak - before) / 1_000_000).toBeLessThan(100);
    expect(await session.exitCode()).toBe(0);
  }, 120_000);

  test(`${megabytes} MB for a process that is slow to read stay out of our memory, and all arrive`, async () => {
    const session = await sh((await started()).id, "sleep 1; wc -c", { interactive: true });
    const output = outputOf(session);
    const block = Buffer.alloc(1_000_000);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let peak = 0;
    for (let sent = 0; sent < megabytes; sent++) {
      await session.write(block);
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    session.endInput();
    expect(Number((await output).stdout)).toBe(megabytes * 1_000_000);
    expect((peak - before) / 1_000_000).toBeLessThan(100);
  }, 120_000);

  test("kill ends everything below the command, deaf and detached ones too, and nothing beside it", async () => {
    const id = await started();
    const bystander = await sh(id.id, "sleep 601");
    const spared = await others(id.id);
    const deaf = "trap '' HUP; (sleep 602 &) ; setsid sleep 603 & sh -c 'sleep 604; :' & wait";
    const session = await sh(id.id, deaf);
    const mine = await waitFor("the whole tree", async () => {
      const pids = (await others(id.id)).filter((pid) => !spared.includes(pid));
      return pids.length >= 5 && pids;
    });
    await session.kill();
    expect(mine.filter(isAlive)).toEqual([]);
    expect(spared.filter(isAlive)).toEqual(spared);
    await bystander.kill();
    expect(spared.filter(isAlive)).toEqual([]);
  });

  test("a process that hears the hangup may tidy up", async () => {
    const id = await started();
    const session = await sh(
      id.id,
      "trap 'echo tidied >/tidied; exit 5' HUP; echo ready; while :; do sleep 0.05; done",
    );
    for await (const _ of session.output) await session.kill();
    expect(await session.exitCode()).toBe(5);
    const look = await sh(id.id, "cat /tidied");
    expect((await outputOf(look)).stdout).toBe("tidied\n");
  });

  test("what a command that has ended left running stays", async () => {
    const id = await started();
    const session = await sh(id.id, "sleep 605 >/dev/null 2>&1 & echo left");
    expect((await outputOf(session)).stdout).toBe("left\n");
    expect(await session.exitCode()).toBe(0);
    const left = await others(id.id);
    expect(left).toHaveLength(1);
    await session.kill();
    expect(left.filter(isAlive)).toEqual(left);
  });

  test("a time-out of a second is a kill after a second", async () => {
    const session = await sh((await started()).id, "echo begun; sleep 606");
    const late = setTimeout(() => void session.kill(), 1_000);
    expect((await outputOf(session)).stdout).toBe("begun\n");
    clearTimeout(late);
    expect(await session.exitCode()).toBe(129);
  });

  test("an exec ends with the runtime", async () => {
    const other = createDockerEngine({
      host: requireDocker(),
      installationId: place.installationId,
      names: place.names,
    });
    const id = await started();
    const command = ["sleep", "607"];
    const session: ExecSession = await other.exec(id, { command, env: [], tty: false, interactive: false });
    const output = outputOf(session);
    other.close();
    await output;
    await session.kill();
    expect(await others(id.id)).toEqual([]);
  });

  describe("from inside, where the pids are not ours", () => {
    const marked = async (id: string, script: string, change = {}) => {
      const mark = `${place.names.envPrefix}_EXEC=${crypto.randomUUID()}`;
      const session = await sh(id, script, { env: [mark], ...change });
      const { user }: Partial<ExecSpec> = change;
      const target = { containerId: id, subject: `container "${id}"`, execId: session.id, user, mark };
      const engine = createDockerClient(requireDocker(), 10_000);
      return { session, kill: killFromInside(engine, target, 400), engine };
    };

    test.each([{}, { user: "65534" }])("ends everything with its mark, deaf ones too (%j)", async (change) => {
      const id = await started();
      const bystander = await sh(id.id, "sleep 601", change);
      const spared = await others(id.id);
      const { session, kill, engine } = await marked(id.id, "trap '' HUP; (sleep 602 &); sleep 603", change);
      const mine = await waitFor("the whole tree", async () => {
        const pids = (await others(id.id)).filter((pid) => !spared.includes(pid));
        return pids.length >= 2 && pids;
      });
      await kill();
      await waitFor("their end", () => mine.filter(isAlive).length === 0);
      await kill();
      expect(spared.filter(isAlive)).toEqual(spared);
      expect(await session.exitCode()).toBe(137);
      expect((await readExec(engine, bystander.id)).Running).toBe(true);
      engine.close();
    });

    test("says so when the container lacks what that takes", async () => {
      const id = await started();
      const { session, kill, engine } = await marked(id.id, "rm /bin/sh /bin/busybox; while :; do :; done");
      await waitFor("the shell to be gone", async () => {
        return sh(id.id, ":").then(
          () => false,
          () => true,
        );
      });
      const failure = await expectFailure(kill(), "conflict");
      expect(failure.message).toContain('"sh"');
      await session.kill();
      engine.close();
    });
  });
});
