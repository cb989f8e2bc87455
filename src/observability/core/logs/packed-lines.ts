import type { Level, LogSource, LogStream, NewLine } from "./line.ts";

/** Lines of one source as bytes: they pass from thread to thread without being parsed in between. */
export function packLines(
  source: LogSource,
  stream: LogStream,
  lines: readonly Omit<NewLine, "source" | "stream">[],
): Uint8Array<ArrayBuffer> {
  const packed: Packed = { source, stream, rows: lines.map(({ at, level, text }) => [at, level, text]) };
  return Buffer.from(JSON.stringify(packed));
}

export function unpackLines(bytes: Uint8Array): NewLine[] {
  const { source, stream, rows } = JSON.parse(new TextDecoder().decode(bytes)) as Packed;
  return rows.map(([at, level, text]) => ({ at, source, stream, level, text }));
}

interface Packed {
  source: LogSource;
  stream: LogStream;
  rows: [at: number, level: Level, text: string][];
}
