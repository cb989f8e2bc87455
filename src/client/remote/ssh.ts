import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Remote } from "./remotes.ts";

export interface SshResult {
  code: number;
  stdout: string;
  /** With the lines of `debug1:`. */
  stderr: string;
}

export interface SshSetup {
  /** Takes the place of the user's configuration of ssh. */
  configFile?: string;
  /** Private key; wins over that of the remote. */
  identity?: string | undefined;
  /** Somebody is there whom ssh may ask on the terminal. */
  asks: boolean;
  variables: Readonly<Record<string, string | undefined>>;
  /** Private folder for what ssh says. */
  folder: string;
  /** How long an answer over an open connection may take. */
  askMs: number;
  /** Ends a sign-in that waits, such as for a passphrase. */
  signal: AbortSignal;
}

/** The `ssh` of the system. */
export interface Ssh {
  /** Signs in and leaves a process behind that keeps the connection; `control` is its socket. Code 127: no ssh. */
  open(remote: Remote, control: string, times: SshTimes): Promise<SshResult>;
  /** Adds a forwarding to the connection: who connects to `from` here, gets to `to` there. */
  forward(control: string, from: string, to: string): Promise<SshResult>;
  /** Takes a forwarding away; quiet where there is none. */
  cancel(control: string, from: string, to: string): Promise<void>;
  /** Runs a command on the other machine over the connection. */
  run(control: string, command: string): Promise<SshResult>;
  /** Ends the connection; quiet where there is none. */
  close(control: string): Promise<void>;
}

export interface SshTimes {
  connectMs: number;
  idleMs: number;
  aliveMs: number;
}

export function createSsh(setup: SshSetup): Ssh {
  const over = (control: string, words: readonly string[]) =>
    runSsh(setup, ["-F", "none", "-S", control, "-o", "BatchMode=yes", ...words], { timeout: setup.askMs });
  return {
    open: (remote, control, times) =>
      runSsh(setup, openWords(setup, remote, { control, times }), { signal: setup.signal }),
    forward: (control, from, to) => over(control, ["-O", "forward", "-L", `${from}:${to}`, "berth"]),
    async cancel(control, from, to) {
      await over(control, ["-O", "cancel", "-L", `${from}:${to}`, "berth"]);
    },
    run: (control, command) => over(control, ["-T", "berth", command]),
    async close(control) {
      await over(control, ["-O", "exit", "berth"]);
    },
  };
}

interface Opening {
  control: string;
  times: SshTimes;
}

/**
 * The forwarding is added later: those of the user's own configuration are for other purposes, could fail, and only
 * all of them can be left out. `debug1` names the keys that were tried.
 */
function openWords({ configFile, identity, asks }: SshSetup, remote: Remote, { control, times }: Opening): string[] {
  const key = identity ?? remote.identity;
  const options = {
    BatchMode: asks ? "no" : "yes",
    ClearAllForwardings: "yes",
    ConnectTimeout: seconds(times.connectMs),
    ControlPersist: seconds(times.idleMs),
    ForwardAgent: "no",
    ForwardX11: "no",
    LogLevel: "DEBUG1",
    PermitLocalCommand: "no",
    RemoteCommand: "none",
    RequestTTY: "no",
    ServerAliveCountMax: "3",
    ServerAliveInterval: seconds(times.aliveMs),
    Tunnel: "no",
    ...(key === undefined ? {} : { IdentitiesOnly: "yes" }),
  };
  return [
    ...(configFile === undefined ? [] : ["-F", configFile]),
    ...["-f", "-N", "-M", "-S", control],
    ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    ...(key === undefined ? [] : ["-i", key]),
    ...(remote.port === undefined ? [] : ["-p", String(remote.port)]),
    ...(remote.user === undefined ? [] : ["-l", remote.user]),
    "--",
    remote.host,
  ];
}

function seconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)));
}

/** What ssh says goes to a file: processes that stay behind would hold a pipe open. */
async function runSsh(
  { variables, folder }: SshSetup,
  words: readonly string[],
  limit: { timeout: number } | { signal: AbortSignal },
): Promise<SshResult> {
  const place = mkdtempSync(join(folder, "says-"));
  const paths = [join(place, "out"), join(place, "err")] as const;
  const [out, err] = [openSync(paths[0], "w", 0o600), openSync(paths[1], "w", 0o600)];
  try {
    const streams = { stdin: "ignore", stdout: out, stderr: err } as const;
    const child = Bun.spawn(["ssh", ...words], { ...streams, ...limit, env: { ...variables } });
    const code = await child.exited;
    return { code, stdout: readFileSync(paths[0], "utf8"), stderr: readFileSync(paths[1], "utf8") };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return { code: noSshCode, stdout: "", stderr: "" };
    }
    throw error;
  } finally {
    closeSync(out);
    closeSync(err);
    rmSync(place, { recursive: true, force: true });
  }
}

/** What the shell says of programs that are not there. */
export const noSshCode = 127;
