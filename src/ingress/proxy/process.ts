import { rm } from "node:fs/promises";
import { pidIn, wordsOf } from "../../base/machine/pid-file.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Clock } from "../../base/words/clock.ts";
import { configPath } from "../core/layout.ts";
import type { Paths } from "../core/change.ts";
import type { Launch } from "./launch.ts";
import type { RuntimeSocket } from "./runtime-socket.ts";

/** The HAProxy processes of this root: a master, and the workers that it starts. They outlive the server. */
export interface ProxyProcess {
  /** Pid of our master; undefined when none runs. Cheap enough to be asked several times a second. */
  running(): Promise<number | undefined>;
  /** What HAProxy says against the configuration on disk; undefined when it accepts it. */
  check(): Promise<string | undefined>;
  /** Starts a master with the files on disk. Fails `conflict` with HAProxy's own words when it cannot start. */
  start(): Promise<void>;
  /** Lets the master reload the files; the old workers end what they serve. Fails when no new worker appears. */
  reload(): Promise<void>;
  /** HAProxy writes a line for each change: a log that has grown large is emptied. */
  trimLog(): Promise<void>;
  /** Ends master and workers: requests under way get `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

interface ProcessOptions {
  launch: Launch;
  paths: Paths;
  /** Files of the process, beside its configuration. */
  pidFile: string;
  /** Path of the unix socket of the master, which tells of its workers. */
  masterSocket: string;
  master: RuntimeSocket;
  socket: RuntimeSocket;
  clock: Clock;
  /** Until a start or a load is given up. */
  startMs: number;
}

const pollMs = 10;
/** Without another worker by then, the master has not heard that it should load. */
const askAgainMs = 3_000;
/** So often is an empty file looked at before it is believed. The command line of a process that has ended stays empty. */
const emptyLooks = { pidFile: 50, commandLine: 5 };

export function createProcess(options: ProcessOptions): ProxyProcess {
  const { launch, paths, pidFile, masterSocket, socket, clock } = options;
  const config = configPath(paths);

  /** Pid of our master, when it was last seen. The master keeps its pid when it restarts itself. */
  let known: number | undefined;

  async function running(): Promise<number | undefined> {
    if (known === undefined || !(await isOurs(known))) known = await found();
    return known;
  }

  async function found(): Promise<number | undefined> {
    const pid = await settled(
      () => pidIn(pidFile),
      (seen) => seen === 0,
      emptyLooks.pidFile,
    );
    return pid !== undefined && pid > 1 && (await isOurs(pid)) ? pid : undefined;
  }

  async function isOurs(pid: number): Promise<boolean> {
    const words = await settled(
      () => wordsOf(pid),
      (seen) => seen?.length === 0,
      emptyLooks.commandLine,
    );
    return words?.includes("-W") === true && words.includes(config);
  }

  /** While the master restarts itself, after each load, its pid file and its command line are empty for a moment. */
  async function settled<T>(read: () => T, isEmpty: (seen: T) => boolean, most: number): Promise<T> {
    for (let looks = 1; looks < most; looks += 1) {
      const seen = read();
      if (!isEmpty(seen)) return seen;
      await clock.sleep(pollMs);
    }
    return read();
  }

  async function check(): Promise<string | undefined> {
    const { exitCode, stdout, stderr } = await launch.once(["-c", "-f", config]);
    return exitCode === 0 ? undefined : complaint(`${stderr}\n${stdout}`);
  }

  /** Pid of the worker that answers; undefined while none does. */
  const worker = async (): Promise<string | undefined> => {
    const info = await socket.ask("show info\n").catch(() => "");
    return /^Pid: (\d+)$/m.exec(info)?.[1];
  };

  async function waitFor(isThere: () => Promise<boolean>): Promise<boolean> {
    const until = clock.now() + options.startMs;
    while (!(await isThere())) {
      if (clock.now() >= until) return false;
      await clock.sleep(pollMs);
    }
    return true;
  }

  const isThere = async () => (await running()) !== undefined && (await worker()) !== undefined;

  async function start(): Promise<void> {
    await rm(pidFile, { force: true });
    const begun = await launch.begin(["-W", "-S", `${masterSocket},mode,600`, "-p", pidFile, "-f", config]);
    const isUp = await waitFor(async () => begun.hasEnded() || (await isThere()));
    if (isUp && !begun.hasEnded()) return begun.letGo();
    const words = await lastWords(launch);
    await begun.giveUp();
    throw new Failure("conflict", `HAProxy did not start: ${words}`);
  }

  return {
    running,
    check,
    start,
    async reload() {
      const pid = await running();
      if (pid === undefined) throw new Failure("unavailable", "HAProxy does not run, so it cannot load anything");
      const before = await worker();
      let askAgainAt = 0;
      const askToLoad = async (master: number): Promise<void> => {
        // A master that is still busy with the load before loses the signal; it answers once it is done.
        await options.master.ask("show proc\n").catch(() => "");
        process.kill(master, "SIGUSR2");
        askAgainAt = clock.now() + askAgainMs;
      };
      const isNew = await waitFor(async () => {
        const now = await worker();
        if (now !== undefined && now !== before) return true;
        if (clock.now() >= askAgainAt) await askToLoad(pid);
        return false;
      });
      if (!isNew) throw new Failure("unavailable", `HAProxy did not load its files: ${await lastWords(launch)}`);
    },
    trimLog: launch.trimOutput,
    async stop(graceMs) {
      const pid = await running();
      if (pid === undefined) return;
      // Softly first: it stops listening and ends what it serves.
      process.kill(pid, "SIGUSR1");
      const until = clock.now() + graceMs;
      while (clock.now() < until && (await running()) !== undefined) await clock.sleep(pollMs);
      if ((await running()) !== undefined) process.kill(pid, "SIGTERM");
      await waitFor(async () => (await running()) === undefined);
    },
  };
}

/** HAProxy's words without its time stamps and its own advice. */
function complaint(text: string): string {
  const lines = text.split("\n").filter((line) => /^\[(?:ALERT|WARNING)\]/.test(line));
  const said = lines.map((line) => line.replace(/^\[\w+\]\s*(?:\(\d+\)\s*)?:\s*/, "")).slice(0, 5);
  return said.join("; ") || text.trim().slice(0, 500) || "no reason given";
}

async function lastWords(launch: Launch): Promise<string> {
  const text = await launch.lastOutput();
  const alerts = text.split("\n").filter((line) => line.startsWith("[ALERT]"));
  return complaint(alerts.slice(-3).join("\n") || text.slice(-500));
}
