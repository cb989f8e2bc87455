import { existsSync } from "node:fs";
import { Failure } from "../../base/wire/failure.ts";
import { sayNow } from "../../client/basics/output.ts";

/** The programs of this machine, as far as the installation uses them. */
export interface Machine {
  /** Whether the program is there, also in the folders of the administrator. */
  has(program: string): boolean;
  exists(path: string): boolean;
  /** Runs a program to its end. One that is missing has exit code 127. */
  run(command: readonly string[], env?: Record<string, string>): Promise<Finished>;
  /** The answer of the operator at the terminal; undefined without a terminal. */
  ask(question: string): string | undefined;
  say(line: string): void;
  /** Explains the line before. */
  note(line: string): void;
}

interface Finished {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Where an installation puts its files. */
export const places = {
  executable: "/usr/local/bin/berth",
  units: "/etc/systemd/system",
  server: "berth.service",
  ingress: "berth-ingress.service",
} as const;

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export const thisMachine: Machine = {
  has: (program) => find(program) !== null,
  exists: existsSync,
  async run([program = "", ...args], env = {}) {
    const path = find(program);
    if (path === null) return { exitCode: 127, stdout: "", stderr: `${program} is not installed` };
    const child = Bun.spawn(["env", ...Object.entries(env).map(([name, value]) => `${name}=${value}`), path, ...args], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { exitCode: await child.exited, stdout, stderr };
  },
  ask(question) {
    if (!process.stdin.isTTY) return undefined;
    return globalThis.prompt(`    ${question} [y/N]`) ?? "";
  },
  say: (line) => print(`==> ${line}`),
  note: (line) => print(`    ${line}`),
};

function find(program: string): string | null {
  return program.startsWith("/") ? program : (Bun.which(program) ?? Bun.which(program, { PATH: searchPath }));
}

/** A terminal that was closed meanwhile must not end what is under way. */
function print(line: string): void {
  try {
    sayNow(line);
  } catch {
    return;
  }
}

/** Runs a program that has to succeed; answers with what it printed. */
export async function must(
  machine: Machine,
  command: readonly string[],
  env?: Record<string, string>,
): Promise<string> {
  const { exitCode, stdout, stderr } = await machine.run(command, env);
  if (exitCode === 0) return stdout;
  const said = (stderr.trim() || stdout.trim()).split("\n").slice(-5).join("\n");
  throw new Failure(
    "unavailable",
    `"${command.join(" ")}" failed (exit code ${exitCode})${said === "" ? "" : `: ${said}`}`,
  );
}

export function hasSystemd(machine: Machine): boolean {
  return machine.exists("/run/systemd/system");
}

export function requireRoot(what: string): void {
  if (process.getuid?.() !== 0) throw new Failure("forbidden", `${what} needs root: run it with sudo`);
}
