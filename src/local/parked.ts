import { existsSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { writeAtomic } from "../base/disk/atomic-write.ts";
import { type Layout, layoutOf } from "../base/disk/layout.ts";
import { makeFolders } from "../base/disk/root.ts";
import { isoTime } from "../base/pure/iso-time.ts";
import type { Log } from "../base/words/log.ts";
import { serverLimits } from "../config/server-limits.ts";

/** Why the server of a root does not act. While the file is there, `berth serve` waits. */
export interface MoveRecord {
  /**
   * `leaving`: its work moves away just now, and it acts again if the command that moves it ends. `moved`: another machine
   * acts. `arriving`: what moves here is not whole.
   */
  phase: "leaving" | "moved" | "arriving";
  /** The other machine. */
  peer: string;
  /** Epoch milliseconds. */
  at: number;
  installation: string;
  prefix: string;
  dockerHost: string;
  /** The command that moves it. */
  mover?: Mover | undefined;
  /** Number of the server that acts since. */
  generation?: number | undefined;
  /** Private key of ssh, where one was named. */
  identity?: string | undefined;
  /** Arriving, where this installation acted before: all volumes of its names are its own. */
  returns?: boolean | undefined;
  /** Arriving: volumes without the label of an owner that came with it. */
  brought?: string[] | undefined;
}

interface Mover {
  pid: number;
  /** Tells it from a later process with its number. */
  started: string;
}

type Files = Pick<Layout, "move">;

/** A file that is damaged keeps the server from acting, too. */
export function readMove({ move }: Files): MoveRecord | undefined {
  if (!existsSync(move)) return undefined;
  try {
    const found: unknown = JSON.parse(readFileSync(move, "utf8"));
    if (isRecord(found)) return found;
    throw new Error("not a record");
  } catch {
    const unknown = { installation: "", prefix: "", dockerHost: "", at: 0 };
    return { phase: "moved", peer: "a machine that the damaged file move.json does not name", ...unknown };
  }
}

function isRecord(value: unknown): value is MoveRecord {
  const { phase, peer, at, installation, prefix, dockerHost } = Object(value) as Partial<Record<string, unknown>>;
  const isPhase = phase === "leaving" || phase === "moved" || phase === "arriving";
  const texts = [peer, installation, prefix, dockerHost];
  return isPhase && Number.isFinite(new Date(Number(at)).getTime()) && texts.every((text) => typeof text === "string");
}

export async function writeMove({ move }: Files, record: MoveRecord): Promise<void> {
  await writeAtomic(move, `${JSON.stringify(record)}\n`, 0o600);
}

export async function removeMove({ move }: Files): Promise<void> {
  await rm(move, { force: true });
}

const arrivedFile = ({ move }: Files) => `${move}.arrived`;

/** The server acts from now on. What it was moved from stays known, for the way back. */
export async function endArrival(layout: Files): Promise<void> {
  await rename(layout.move, arrivedFile(layout));
}

export function readArrival(layout: Files): MoveRecord | undefined {
  return readMove({ move: arrivedFile(layout) });
}

export function thisMover(): Mover {
  return { pid: process.pid, started: startOf(process.pid) ?? "" };
}

function isRunning({ pid, started }: Mover): boolean {
  return startOf(pid) === started;
}

/** Boot of the machine and moment in it, from the kernel; undefined where no process has the number, or only its remains. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[18]}`;
  } catch {
    return undefined;
  }
}

/** Why the server waits, and the way out. */
export function parkedText({ phase, peer, at }: MoveRecord): string {
  if (phase === "leaving")
    return `this server moves to ${peer} just now and does not act; if that fails, it acts again by itself`;
  if (phase === "arriving")
    return `${peer} moves to this server, which acts when all of it is here; to go on, run berth move there again; to give it up: berth server uninstall`;
  return `this server moved to ${peer} at ${isoTime(at)} and does not act; to bring it back: berth move --undo`;
}

interface Waiting {
  log: Log;
  /** Aborts when the process is to end. */
  ending: AbortSignal;
}

/**
 * Waits while the work of this root is moved to or from another machine, and answers every request with why. False when
 * the process is to end. A move that was killed before the other machine acts is over: then this server acts again.
 */
export async function stayParked(root: string, { log, ending }: Waiting): Promise<boolean> {
  const layout = layoutOf(root);
  let door: Awaited<ReturnType<typeof openDoor>> | undefined;
  try {
    for (;;) {
      if (ending.aborted) return false;
      const record = readMove(layout);
      if (record === undefined) return true;
      if (isOver(record)) {
        await removeMove(layout);
        log.warn("the move to another machine was interrupted; this server acts again", { peer: record.peer });
        return true;
      }
      if (door === undefined) log.warn("waiting", { why: parkedText(record), pid: process.pid });
      door ??= await openDoor(layout);
      await Bun.sleep(serverLimits.parkedLookMs);
    }
  } finally {
    await door?.stop(true);
  }
}

const isOver = ({ phase, mover }: MoveRecord) => phase === "leaving" && (mover === undefined || !isRunning(mover));

async function openDoor(layout: Layout) {
  await makeFolders(layout);
  await rm(layout.socket, { force: true });
  return Bun.serve({
    unix: layout.socket,
    fetch() {
      const record = readMove(layout);
      const error = record === undefined ? "this server starts" : parkedText(record);
      const body = { status: "error", error, code: "unavailable", fields: { moving: true } };
      return Response.json(body, { status: 503, headers: { "retry-after": "5" } });
    },
  });
}
