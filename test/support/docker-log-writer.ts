import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";

export interface EntryChange {
  stream?: "stdout" | "stderr";
  /** Without a line end: a piece of a longer line. */
  isPiece?: boolean;
  time?: string;
}

const startMs = Date.UTC(2026, 0, 31, 13);
let serial = 0;

/** An entry of the driver json-file; each is a millisecond later than the one before. */
export function dockerEntry(text: string, { stream = "stdout", isPiece = false, time }: EntryChange = {}): string {
  const log = isPiece ? text : `${text}\n`;
  return `${JSON.stringify({ log, stream, time: time ?? new Date(startMs + serial++).toISOString() })}\n`;
}

/** Changes files as the driver does: the last goes, each gets the next name, and a new one begins. */
export function rotateLog(path: string, filesMax: number, isCompressed = false): void {
  const end = isCompressed ? ".gz" : "";
  rmSync(`${path}.${filesMax - 1}${end}`, { force: true });
  for (let place = filesMax - 1; place > 1; place--) {
    const from = `${path}.${place - 1}${end}`;
    if (existsSync(from)) renameSync(from, `${path}.${place}${end}`);
  }
  renameSync(path, `${path}.1`);
  writeFileSync(path, "");
  if (!isCompressed) return;
  writeFileSync(`${path}.1.gz`, gzipSync(readFileSync(`${path}.1`)));
  rmSync(`${path}.1`);
}

/** `bun docker-log-writer.ts PATH LINES FILE_LINES`: writes numbered lines as fast as it can, in three files. */
if (import.meta.main) {
  const [path = "", lines = 0, fileLines = 1] = process.argv
    .slice(2)
    .map((word, at) => (at === 0 ? word : Number(word))) as [string, number, number];
  mkdirSync(dirname(path), { recursive: true });
  for (let line = 1; line <= lines; line++) {
    if (line % fileLines === 0) rotateLog(path, 3);
    appendFileSync(path, dockerEntry(String(line)));
  }
}
