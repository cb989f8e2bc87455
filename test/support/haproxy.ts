import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Change, Command, Running, Setup } from "../../src/ingress/core/change.ts";
import { changes } from "../../src/ingress/core/changes.ts";
import { socketText } from "../../src/ingress/core/commands.ts";
import type { Table } from "../../src/ingress/core/table.ts";
import { waitFor } from "./wait.ts";

export const haproxyPath = Bun.which("haproxy") ?? "/usr/sbin/haproxy";

export function proxySetup(folder: string, changed: Partial<Setup> = {}): Setup {
  return {
    paths: { folder, socket: join(folder, "haproxy.sock") },
    capabilities: { major: 2, minor: 6, lua: true, addServer: true },
    headerPrefix: "X-Berth",
    user: undefined,
    logTo: undefined,
    door: undefined,
    connectionsMax: 2_000,
    splicesMax: 100,
    spareBackends: 8,
    threads: 1,
    ...changed,
  };
}

/** A real HAProxy that serves a table, made from the product's own text and driven by its own commands. */
export interface TestProxy {
  apply(table: Table): Promise<Change>;
  send(text: string): Promise<string>;
  folder: string;
  /** What it wrote, for a failed test. */
  output(): string;
  stop(): Promise<void>;
}

export function writeChange(change: Change): void {
  for (const { path, content, mode } of change.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
  }
}

/** Empty when the configuration in the folder is accepted. */
export function checkConfig(folder: string): string {
  const run = Bun.spawnSync([haproxyPath, "-c", "-f", join(folder, "haproxy.cfg")], { stdout: "pipe", stderr: "pipe" });
  return run.exitCode === 0 ? "" : run.stderr.toString() + run.stdout.toString();
}

export function temporaryFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(process.env.BERTH_TEST_DIR ?? tmpdir(), "ingress-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function startProxy(table: Table, changed: Partial<Setup> = {}): Promise<TestProxy> {
  const { folder, remove } = temporaryFolder();
  const setup = proxySetup(folder, changed);
  const log = join(folder, "output.log");
  let running: Running | undefined;
  const first = changes(undefined, table, setup);
  if (first.refused.length > 0) throw new Error(`refused: ${JSON.stringify(first.refused)}`);
  writeChange(first);
  running = { table, assignment: first.assignment };
  const fault = checkConfig(folder);
  if (fault !== "") throw new Error(`${fault}\n${readFileSync(join(folder, "haproxy.cfg"), "utf8")}`);
  const child = Bun.spawn([haproxyPath, "-W", "-db", "-f", join(folder, "haproxy.cfg")], {
    stdout: Bun.file(log),
    stderr: Bun.file(log),
  });
  const send = (text: string) => ask(setup.paths.socket, text);
  await waitFor("the proxy's socket", () => send("show info\n"));

  async function reload(): Promise<void> {
    const before = pidOf(await send("show info\n"));
    const refusal = checkConfig(folder);
    if (refusal !== "") throw new Error(refusal);
    let askAgainAt = 0;
    await waitFor("the new process", async () => {
      if (pidOf(await send("show info\n")) !== before) return true;
      // A master that is still busy with the load before loses the signal.
      if (performance.now() >= askAgainAt) {
        child.kill("SIGUSR2");
        askAgainAt = performance.now() + 3_000;
      }
      return false;
    });
  }

  return {
    folder,
    send,
    output: () => readFileSync(log, "utf8"),
    async apply(next) {
      const change = changes(running, next, setup);
      writeChange(change);
      await sendAll(change.commands, send);
      if (change.reload) await reload();
      running = { table: next, assignment: change.assignment };
      return change;
    },
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      remove();
    },
  };
}

const pidOf = (info: string) => /^Pid: (\d+)$/m.exec(info)?.[1];

async function sendAll(commands: Command[], send: (text: string) => Promise<string>): Promise<void> {
  const versions: Record<string, string> = {};
  for (const command of commands) {
    const answer = await send(socketText(command, versions));
    if (command.kind === "prepare-map") versions[command.map] = /New version created: (\d+)/.exec(answer)?.[1] ?? "";
    else if (!isSuccess(answer)) throw new Error(`${command.kind}: ${answer} ${JSON.stringify(command)}`);
  }
}

/** Commands answer with nothing, or with one of these. */
function isSuccess(answer: string): boolean {
  return (
    answer.trim() === "" ||
    /New server registered|New empty|Transaction (?:created|updated)|Success!|Certificate .* deleted|Inserting|deleted|Already exists/.test(
      answer,
    )
  );
}

function ask(path: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
    socket.on("connect", () => socket.write(text));
  });
}
