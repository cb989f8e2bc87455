import { lstatSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { hidingOf } from "../../base/pure/hide.ts";
import { Failure } from "../../base/wire/failure.ts";
import { watchBytes, type Watched } from "./watch-bytes.ts";
import { type CopyGroup, hasNoScope, named } from "./copy-group.ts";
import {
  createStallWatch,
  resticVersion,
  lacksOnlyVanished,
  troubleOf,
  type ResticTrouble,
  causeOf,
} from "../core/restic-words.ts";
import { hasFeature, isAtLeast, resticMin } from "../core/restic-commands.ts";

/** One command of restic. */
interface Order {
  words: readonly string[];
  /** Repository and credentials; see `repositoryEnvironment`. */
  env: Readonly<Record<string, string>>;
  /** What `.` of the words is. */
  folder?: string | undefined;
  /** What it reads from stdin. */
  input?: string | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Gets what it writes to stdout, as it comes. */
  onText?: ((text: string) => void) | undefined;
  watched?: Watched | undefined;
  /** The machine as which it runs, and on which no other process is: restic takes locks of that name for left over. */
  machine?: string | undefined;
  /**
   * `long`: it reads or writes much, and stands in the control group of copies. `quick`: an app waits for its end, so that it
   * gives way to none.
   */
  pace?: "long" | "quick" | undefined;
}

interface Answered {
  ok: boolean;
  /** Exit code; undefined where a signal ended it. */
  code: number | undefined;
  stdout: string;
  /** What it wrote to stderr, without credentials. */
  said?: string | undefined;
  trouble: ResticTrouble;
  /** What a copy lacks: files that were gone when their turn came alone, or also others. */
  lacks?: "vanished" | "unread" | undefined;
  /** The cause in one line, without credentials; of a command that failed. */
  cause: string;
}

/** Runs restic, which does what leaves the machine: encryption, chunks, retention and storage. */
export interface Restic {
  /** The version that was installed when it was asked first. Fails `unavailable` where there is none, or one that is too old. */
  version(): Promise<string>;
  /** Runs to the end of the command. Fails `unavailable` as `version` does. */
  run(order: Order): Promise<Answered>;
  /**
   * The name of the machine in the locks of its commands, which no other server has; undefined where the system gives
   * it none, which happens without the right to make namespaces.
   */
  host?(): Promise<string | undefined>;
}

const program = "restic";

const missing = `restic is not installed: apt-get install restic (${resticMin} or newer), then try again`;

/**
 * It dies with the server, gives way to apps on the processors and the disk, and is the first to go when memory ends. Those
 * programs are part of util-linux and coreutils, which every system has that runs the server. The class "idle" of the disk
 * would hold up a copy for whose end an app is paused.
 */
export const politely = [
  ...["choom", "-n", "1000", "--", "nice", "-n", "10", "ionice", "-c", "2", "-n", "7"],
  ...["setpriv", "--pdeathsig", "TERM", "--"],
];

/** The same for what an app waits for: only when memory ends it goes first. */
const quickly = ["choom", "-n", "1000", "--", "setpriv", "--pdeathsig", "TERM", "--"];

/**
 * The program restic. `cacheFolder` is what it may make again whenever it is gone; for the limits, see `backupLimits`;
 * `hostName` is for its locks; `group` is where long commands stand.
 */
export function createRestic(
  cacheFolder: string,
  {
    resticOutputBytesMax: outputBytesMax,
    resticKillGraceMs: killGraceMs,
    resticStallMs: stallMs,
    resticWatchMs: watchMs,
  }: { resticOutputBytesMax: number; resticKillGraceMs: number; resticStallMs: number; resticWatchMs: number },
  hostName: () => string | undefined = () => undefined,
  group: CopyGroup = async () => [],
): Restic {
  let canName: Promise<boolean> | undefined;
  let known: string | undefined;
  async function host(): Promise<string | undefined> {
    canName ??= Bun.spawn([...named("berth"), "true"], {
      stdout: "ignore",
      stderr: "ignore",
      env: { PATH: searchPath },
    })
      .exited.then((code) => code === 0)
      .catch(() => false);
    return (await canName) ? hostName() : undefined;
  }

  const spawn = (
    before: readonly string[],
    at: string | undefined,
    { words, env, folder, input, pace, machine }: Omit<Order, "timeoutMs" | "signal" | "onText" | "watched">,
  ) =>
    Bun.spawn(
      [
        ...before,
        ...(pace === "quick" ? quickly : politely),
        ...(at === undefined ? [] : named(machine ?? at, machine !== undefined)),
        program,
        ...words,
      ],
      {
        cwd: folder ?? "/",
        env: { PATH: searchPath, HOME: homeOfRoot, RESTIC_CACHE_DIR: cacheFolder, ...memory, ...env },
        stdin: input === undefined ? "ignore" : new Blob([input]),
        stdout: "pipe",
        stderr: "pipe",
      },
    );

  function lacking(said: string, folder: string): "vanished" | "unread" {
    const isGone = (path: string) => lstatSync(resolve(folder, path), { throwIfNoEntry: false }) === undefined;
    return said.length < outputBytesMax && lacksOnlyVanished(said, isGone) ? "vanished" : "unread";
  }

  async function run(order: Order): Promise<Answered> {
    await mkdir(cacheFolder, { recursive: true, mode: 0o700 });
    const before = order.pace === "long" ? await group() : [];
    const answered = await runWithin(before, order);
    return hasNoScope(before, answered.code, answered.said ?? "") ? runWithin([], order) : answered;
  }

  async function runWithin(before: readonly string[], order: Order): Promise<Answered> {
    const child = spawn(before, await host(), order);
    let why: string | undefined;
    let killing: Timer | undefined;
    const end = (reason: string) => {
      why ??= reason;
      child.kill("SIGTERM");
      killing ??= setTimeout(() => child.kill("SIGKILL"), killGraceMs);
    };
    const isStalled = createStallWatch(stallMs, () => performance.now());
    const retries = (text: string) => {
      if (isStalled(text)) end(`it failed again and again for ${stallMs / 1000} s`);
    };
    const late = setTimeout(() => end(`it took longer than ${Math.round(order.timeoutMs / 1000)} s`), order.timeoutMs);
    const onAbort = () => end("it was interrupted");
    order.signal?.addEventListener("abort", onAbort, { once: true });
    if (order.signal?.aborted) onAbort();
    const unwatch = order.watched && watchBytes(order.watched, watchMs);
    try {
      const [stdout, stderr] = await Promise.all([
        readTail(child.stdout, outputBytesMax, order.onText),
        readTail(child.stderr, outputBytesMax, retries),
      ]);
      await child.exited;
      const hide = hidingOf(secretsOf(order.env), { mask: "***", charactersMin: 4 });
      // Ended before it could read a key, 0.17 says that none fits.
      const cause = causeOf(why === undefined ? stderr : stderr.replace(/^.*no key found.*$/m, ""), hide);
      const code = child.exitCode ?? undefined;
      return {
        ok: code === 0 && why === undefined,
        ...{ code, stdout, said: hide(stderr) },
        trouble: why === undefined ? troubleOf(stderr, hasFeature(known, "exitCodes") ? code : undefined) : "other",
        lacks: code === unreadCode ? lacking(stderr, order.folder ?? "/") : undefined,
        cause: why === undefined ? cause : stderr.trim() === "" ? why : `${why}; restic said last: ${cause}`,
      };
    } finally {
      unwatch?.();
      clearTimeout(late);
      clearTimeout(killing);
      order.signal?.removeEventListener("abort", onAbort);
    }
  }

  return {
    host,
    async version() {
      const found = Bun.which(program, { PATH: searchPath });
      if (found === null) throw new Failure("unavailable", missing);
      if (known !== undefined) return known;
      const { stdout, cause } = await run({ words: ["version"], env: {}, timeoutMs: 10_000 });
      const version = resticVersion(stdout);
      if (version === undefined) throw new Failure("unavailable", `"${found} version" did not answer: ${cause}`);
      if (!isAtLeast(version, resticMin))
        throw new Failure("unavailable", `restic ${version} is too old: berth needs ${resticMin}`);
      known = version;
      return version;
    },
    async run(order) {
      if (Bun.which(program, { PATH: searchPath }) === null) throw new Failure("unavailable", missing);
      return run(order);
    },
  };
}

/** The exit code of a copy that lacks files. */
const unreadCode = 3;

/**
 * Garbage is collected rarely, until restic comes near this size: with a tenth of garbage from the first file on, a copy takes
 * a quarter more of the processors. What restic needs itself it gets all the same. Source: Go's package runtime.
 */
const memory = { GOGC: "100", GOMEMLIMIT: "340MiB" };

export const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Keys and known hosts of sftp. */
const homeOfRoot = "/root";

function secretsOf(env: Readonly<Record<string, string>>): string[] {
  const login = /:\/\/[^@/]*:([^@/]*)@/.exec(env.RESTIC_REPOSITORY ?? "")?.[1];
  return [env.RESTIC_PASSWORD, env.RESTIC_FROM_PASSWORD, env.AWS_SECRET_ACCESS_KEY, login].flatMap((text) =>
    text ? [text] : [],
  );
}

/** The end of what a program says; the beginning of a flood is left out. */
export async function readTail(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
  onText: (text: string) => void = () => undefined,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    parts.push(part);
    onText(Buffer.from(part).toString("utf8"));
    bytes += part.length;
    while (parts.length > 1 && bytes - (parts[0]?.length ?? 0) >= bytesMax) bytes -= parts.shift()?.length ?? 0;
  }
  return Buffer.concat(parts).toString("utf8");
}
