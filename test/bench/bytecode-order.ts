import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInBoards } from "../../src/observability/core/boards.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import type { BenchRow } from "./row.ts";

const checkout = join(import.meta.dir, "../..");
const committed = join(checkout, "bytecode.order");
const recorded = join(checkout, "dist/bytecode.order");
const pods = 20;
/** What runs by the clock in this time counts as used. */
const idleMs = 75_000;
const planes = ["--observability-addr", "127.0.0.1:0", "--identity-addr", "127.0.0.1:0"];
/** Functions, modules and names. The other lines, keys and strings, are ten times as many and change nothing that was measured. */
const isKept = (line: string) => /^[FMN] /.test(line);

/** How many of the functions that a server and its client use are in `bytecode.order`; records a new one in `dist/`. */
export async function run(): Promise<BenchRow[]> {
  const used = await record();
  writeFileSync(recorded, `v2\n${used.join("\n")}\n`);
  const known = new Set(readFileSync(committed, "utf8").split("\n"));
  const functions = used.filter((line) => line.startsWith("F "));
  const value = functions.filter((line) => known.has(line)).length;
  const wanted = ">= 0.8, else: cp dist/bytecode.order .";
  const name = "functions in use that bytecode.order knows";
  return [{ name, value, unit: "", baseline: functions.length, ratio: value / functions.length, wanted }];
}

/** Lines in the order of their first use: those of the server, then what only the client uses. */
async function record(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "berth-order."));
  process.env.BUN_BYTECODE_ORDER_OUT = join(folder, "%p");
  try {
    const berth = await rig({ flags: planes });
    const server = String(berth.server.pid);
    try {
      await use(berth);
    } finally {
      await berth.close();
    }
    const names = readdirSync(folder).sort((a, b) => Number(b === server) - Number(a === server));
    if (names[0] !== server) throw new Error("the server recorded nothing");
    const lines = names.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
    return [...new Set(lines.filter(isKept))];
  } finally {
    delete process.env.BUN_BYTECODE_ORDER_OUT;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function use(berth: Rig): Promise<void> {
  const apps = Array.from({ length: pods / 2 }, (_, index) => deployment("idle", `app${index}`, { replicas: 2 }));
  await berth.apply(...apps);
  for (const { scope = "", name } of apps) await berth.ready("deployment", scope, name, 120_000);
  await Bun.sleep(idleMs);
  const commands = ["--version", "status", "get all", "describe idle/app1", "ps idle", "pat create"];
  const outputs: string[] = [];
  for (const command of commands) {
    const { stdout, stderr, exitCode } = await berth.cli(command.split(" "));
    if (exitCode !== 0) throw new Error(`berth ${command} ended with ${exitCode}: ${stderr}`);
    outputs.push(stdout);
  }
  const [token = ""] = outputs.at(-1)?.split("\n") ?? [];
  const { observability = [] } = berth.server.ready.addresses as Record<string, string[]>;
  for (const { metric, group_by: by = "app" } of builtInBoards.flatMap(({ charts }) => charts)) {
    const url = `http://${observability[0]}/api/pat/v1/query?metric=${metric}&from=1h&group_by=${by}`;
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(await answer.text());
  }
}
