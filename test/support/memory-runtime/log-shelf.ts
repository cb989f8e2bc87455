import { Failure } from "../../../src/base/wire/failure.ts";
import type { LogOptions } from "../../../src/orchestration/engine/session.ts";
import type { Bells } from "./bells.ts";
import type { ContainerTable } from "./container-table.ts";

/** What containers have written, line by line. */
export interface LogShelf {
  /** Adds to a container's log; a last line without its end counts as a line. */
  write(nameOrId: string, text: string): void;
  /** See `Runtime.logs`. Fails `not_found` at once. */
  read(nameOrId: string, options: LogOptions, signal: AbortSignal): AsyncGenerator<Uint8Array>;
  delete(id: string): void;
  /** Every reader gets this error. */
  breakAll(error: Error): void;
}

interface Line {
  at: number;
  text: string;
}

interface Shelf {
  table: ContainerTable;
  bells: Bells;
  now: () => number;
  lines: Map<string, Line[]>;
  /** Grows with each break: a reader that began before it is broken. */
  breaks: number;
  fault: Error;
}

export function createLogShelf({ table, bells, now }: Pick<Shelf, "table" | "bells" | "now">): LogShelf {
  const shelf: Shelf = { table, bells, now, lines: new Map(), breaks: 0, fault: new Error("not broken") };
  return {
    write: (nameOrId, text) => write(shelf, nameOrId, text),
    read: (nameOrId, options, signal) => {
      const { id, pid } = find(shelf, nameOrId);
      return read(shelf, { id, pid, options, signal });
    },
    delete: (id) => void shelf.lines.delete(id),
    breakAll: (error) => {
      shelf.breaks += 1;
      shelf.fault = error;
      bells.ringAll();
    },
  };
}

function find({ table }: Shelf, nameOrId: string) {
  const entry = table.get(nameOrId);
  if (entry === undefined) throw new Failure("not_found", `container "${nameOrId}" does not exist`);
  return entry.detail;
}

function write(shelf: Shelf, nameOrId: string, text: string): void {
  const { id } = find(shelf, nameOrId);
  const at = shelf.now();
  const lines = (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => ({ at, text: line }));
  shelf.lines.set(id, [...(shelf.lines.get(id) ?? []), ...lines]);
  shelf.bells.ring(id);
}

interface Reading {
  id: string;
  /** While it is this one, the container is the same run. */
  pid: number | undefined;
  options: LogOptions;
  signal: AbortSignal;
}

async function* read(shelf: Shelf, { id, pid, options, signal }: Reading): AsyncGenerator<Uint8Array> {
  const { follow, tail, since = 0, timestamps } = options;
  const breaks = shelf.breaks;
  const written = shelf.lines.get(id) ?? [];
  let next = tail === undefined ? 0 : Math.max(0, written.length - tail);
  // As with the engine, the log of one run ends with it; what comes after a restart is for the next reader.
  const goesOn = () => follow && pid !== undefined && shelf.table.get(id)?.detail.pid === pid;
  while (!signal.aborted) {
    if (shelf.breaks !== breaks) throw shelf.fault;
    const line = shelf.lines.get(id)?.[next];
    if (line !== undefined) {
      // As with the engine, what goes on with a line has no time of its own.
      const isBeginning = shelf.lines.get(id)?.[next - 1]?.text.endsWith("\n") !== false;
      next += 1;
      if (line.at >= since) yield bytesOf(line, timestamps && isBeginning);
    } else if (goesOn()) await shelf.bells.next(id, signal);
    else return;
  }
}

function bytesOf({ at, text }: Line, timestamps: boolean): Uint8Array {
  return new TextEncoder().encode(timestamps ? `${new Date(at).toISOString()} ${text}` : text);
}
