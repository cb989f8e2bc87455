import { existsSync } from "node:fs";
import { Failure } from "../../base/wire/failure.ts";
import { readSsh } from "../core/rclone-remote.ts";
import { hidingOf } from "../../base/pure/hide.ts";
import { type CopyGroup, hasNoScope } from "./copy-group.ts";
import { politely, readTail, searchPath } from "./restic.ts";

/** One command of rclone. */
interface Order {
  words: readonly string[];
  /** Remotes and credentials; see `remoteEnvironment`. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** What it reads or writes instead of text: the number of an open file. */
  from?: number | string;
  into?: number;
  /** It takes long, and gives way to apps. What is not so is to be done within seconds, also on a busy machine. */
  isLong?: boolean;
}

/** Runs rclone, which brings single files to a target and back. */
export interface Rclone {
  /** What it printed. Fails `not_found` for a missing folder, else `unavailable` with the cause. */
  run(order: Order): Promise<string>;
  /** How `ssh` reaches the machine of an SFTP target. Fails `unavailable` if `ssh` is not installed, and as `readSsh` does. */
  ssh(url: string): Promise<ReturnType<typeof readSsh>>;
}

const program = "rclone";

/** The same for what is to be done within seconds. */
const promptly = ["choom", "-n", "800", "--", "setpriv", "--pdeathsig", "TERM", "--"];

const missing =
  "rclone is not installed, and databases by point in time need it: apt-get install rclone (1.60 or newer), then try again";

/** For the limits, see `pointInTimeLimits`; `group` is where long commands stand. */
export function createRclone({ outputBytesMax }: { outputBytesMax: number }, group: CopyGroup): Rclone {
  async function runWithin(before: readonly string[], order: Order): Promise<string> {
    const { words, env, timeoutMs, signal, from, into, isLong = false } = order;
    const ends = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
    const child = Bun.spawn([...before, ...(isLong ? politely : promptly), program, ...words], {
      cwd: "/",
      // An empty name: no file of settings is read.
      env: {
        PATH: searchPath,
        HOME: "/root",
        RCLONE_CONFIG: "",
        RCLONE_RETRIES: "2",
        RCLONE_LOW_LEVEL_RETRIES: "3",
        ...env,
      },
      stdin: typeof from === "string" ? new Blob([from]) : (from ?? "ignore"),
      stdout: into ?? "pipe",
      stderr: "pipe",
      signal: AbortSignal.any(ends),
    });
    const [stdout, stderr] = await Promise.all([
      child.stdout instanceof ReadableStream ? readTail(child.stdout, outputBytesMax) : "",
      readTail(child.stderr, 64 * 1024),
    ]);
    await child.exited;
    if (child.exitCode === 0) return stdout;
    if (hasNoScope(before, child.exitCode, stderr)) return runWithin([], order);
    const secrets = Object.entries(env).flatMap(([name, text]) =>
      /PASSWORD|ACCESS_KEY/.test(name) && text !== "" ? [text] : [],
    );
    const hide = hidingOf(secrets, { mask: "***", charactersMin: 4 });
    const why = ends.some(({ aborted }) => aborted) ? "it was interrupted, or took too long; " : "";
    const lines = stderr.split("\n").filter((line) => line.trim() !== "");
    const said = lines.findLast((line) => /ERROR|CRITICAL|Failed/.test(line)) ?? lines.at(-1) ?? "rclone said nothing";
    const cause = hide(said.replace(/^\S+ \S+ (?:ERROR|NOTICE|CRITICAL) *: */, "")).slice(0, 400);
    throw new Failure(child.exitCode === 3 ? "not_found" : "unavailable", `${why}${cause}`);
  }

  return {
    async run(order) {
      if (Bun.which(program, { PATH: searchPath }) === null) throw new Failure("unavailable", missing);
      return runWithin(order.isLong ? await group() : [], order);
    },
    async ssh(url) {
      const { hostname, port, username } = new URL(url.replace(/^sftp:/, "ssh:"));
      const words = [...(port === "" ? [] : ["-p", port]), ...(username === "" ? [] : ["-l", username])];
      const said = Bun.spawnSync(["ssh", "-G", ...words, "--", hostname], { env: { PATH: searchPath, HOME: "/root" } });
      if (said.success) return readSsh(said.stdout.toString(), existsSync);
      throw new Failure("unavailable", `ssh does not say how to reach ${hostname}: ${said.stderr.toString().trim()}`);
    },
  };
}
