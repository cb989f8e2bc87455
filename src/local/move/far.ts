import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { CommandFailure, exitCodes } from "../../client/basics/failures.ts";
import { printable } from "../../client/basics/style.ts";
import { addressText, parseSshAddress, type SshAddress } from "../../client/remote/address.ts";
import { createSsh } from "../../client/remote/ssh.ts";
import { sshFault } from "../../client/remote/ssh-words.ts";
import { clientLimits, clientOptions, shellVariables } from "../../config/config.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { thisMachine } from "../server/machine.ts";
import { installedWords } from "../server/systemd.ts";
import { unitWord } from "../unit.ts";

/** The other machine, over one connection of the system's ssh. */
export interface Far {
  /** `root@new`. */
  shown: string;
  /** Runs `berth move here WORD` there with `input`; its answer. Fails with what it said. */
  ask<T>(word: string, input?: unknown): Promise<T>;
  /**
   * Makes the folder there like the one here. Only what differs is sent: owners, modes, times, ACLs, extended attributes, hard
   * links and holes come with it, and what is not here goes.
   */
  mirror(from: string, to: string, more?: readonly string[]): Promise<void>;
  /** Compares the files of a list, which names end in NUL, by their content and sends what differs, whatever their times say. */
  compare(from: string, to: string, list: string): Promise<void>;
  close(): Promise<void>;
}

interface Way {
  /** `ssh://root@new`, `root@new:2222`. */
  to: string;
  identity: string | undefined;
}

const { tunnel } = clientLimits;

/** Signs in. Fails with what to do where that does not work. */
export async function openFar({ to, identity }: Way): Promise<Far> {
  const address = parseSshAddress(to.replace(/^ssh:\/\//, "").replace(/\/$/, ""));
  const remote = { ...address, name: addressText(address), groups: [] };
  const folder = mkdtempSync(join(tmpdir(), "berth-move."));
  const [control, signal] = [join(folder, "c"), new AbortController().signal];
  const options = clientOptions({}, false);
  const ssh = createSsh({
    ...{ ...options.ssh, identity: identity ?? options.ssh.identity },
    ...{ asks: process.stdin.isTTY === true, variables: shellVariables(), folder, askMs: tunnel.answerMs, signal },
  });
  const close = async () => {
    await ssh.close(control).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  };
  const opened = await ssh.open(remote, control, { ...tunnel, idleMs: serverLimits.moveIdleMs });
  if (opened.code !== 0) {
    await close();
    const { cause, advice } = sshFault({ remote, result: opened });
    throw new CommandFailure([`${remote.name}: ${cause}`, ...advice].join("\n  "), exitCodes.unreachable);
  }
  const over = ["ssh", "-F", "none", "-S", control, "-o", "BatchMode=yes", "-o", "ControlMaster=no"];
  const rsync = async (words: readonly string[], from: string, to: string) => {
    // What is not in the copy is deleted: a wrong place must not be the whole disk.
    if (!/^\/[^/]/.test(to)) throw new Failure("invalid", `"${to}" of ${remote.name} is not a folder to copy to`);
    await run([...untilOwnEnd(), "rsync", ...rsyncWords, ...words, "-e", over.join(" "), `${from}/`, `berth:${to}/`]);
  };
  return {
    shown: remote.name,
    ask: (word, input) => ask([...over, "-T", "berth", `${farPath} berth move here ${word}`], { remote, input }),
    mirror: (from, to, more = []) => rsync(["--delete", ...more], from, to),
    compare: (from, to, list) => rsync(["--ignore-times", "--from0", `--files-from=${list}`], from, to),
    close,
  };
}

/** The shell of a command may not look where installers put programs. */
const farPath = "PATH=$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin";

const rsyncWords = ["-aHAXSs", "--numeric-ids", "--rsync-path", `${farPath} rsync`];

/** What is left over of a killed move must not go on to write there. */
const untilOwnEnd = () => (thisMachine.has("setpriv") ? ["setpriv", "--pdeathsig", "KILL"] : []);

async function ask<T>(
  argv: readonly string[],
  { remote, input }: { remote: SshAddress & { name: string }; input: unknown },
): Promise<T> {
  const stdin = new Blob([JSON.stringify(input ?? {})]);
  const child = Bun.spawn([...argv], { stdin, stdout: "pipe", stderr: "pipe", env: shellVariables() });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  const said = printable(stderr.trim().replace(/^error: /, ""));
  if (code === 127) throw new CommandFailure(`berth is not installed on ${remote.name}; ${installLine(remote)}`);
  if (code !== 0) throw new CommandFailure(`${remote.name}: ${said || `exit code ${code}`}`);
  try {
    return (JSON.parse(stdout) as { data: T }).data;
  } catch {
    throw new CommandFailure(
      `${remote.name}: the berth there does not know this command: install the version of this machine`,
    );
  }
}

/** This version, with the settings of the unit of this machine. */
function installLine({ name, port }: SshAddress & { name: string }): string {
  const to = name.replace(/:\d+$/, "");
  const [ssh, scp] = port === undefined ? ["ssh", "scp"] : [`ssh -p ${port}`, `scp -P ${port}`];
  const flags = (installedWords() ?? []).map(unitWord).join(" ");
  return `to install this version there, with the settings of this server:\n  ${scp} ${process.execPath} ${to}:/tmp/berth && ${ssh} ${to} /tmp/berth server install ${flags}`.trimEnd();
}

async function run(argv: readonly string[]): Promise<void> {
  const child = Bun.spawn([...argv], { stdin: "ignore", stdout: "ignore", stderr: "pipe", env: shellVariables() });
  const stderr = await new Response(child.stderr).text();
  const code = await child.exited;
  // 24: a file went away while it was copied, as files of running programs do.
  if (code === 0 || code === 24) return;
  throw new Failure(
    "unavailable",
    `rsync failed (exit code ${code}): ${stderr.trim().split("\n").slice(-3).join("; ")}`,
  );
}
