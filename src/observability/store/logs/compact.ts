import { closeSync, fdatasyncSync, openSync, renameSync, writeSync } from "node:fs";
import { levels, logStreams, type NewLine } from "../../core/logs/line.ts";
import { type LogPosition, packBlock, unpackColumns, unpackText } from "./block.ts";
import { syncFolder } from "./folder.ts";
import { readBody, scanSegment, type Segment, type StoredBlock } from "./segment.ts";

/**
 * Puts the small blocks of a segment together into large ones, packed harder. The new file takes the place of the old one
 * at once. False where there is nothing to gain, and where a part is damaged: what is copied would not tell of it any more.
 * Throws `CorruptBlock`.
 */
export function compact(segment: Segment, limits: { blockBytes: number; packLevelLast: number }): boolean {
  const groups = groupsOf(segment.blocks, limits.blockBytes);
  if (groups.length === segment.blocks.length || segment.damaged.length > 0) return false;
  const path = `${segment.path}.new`;
  const file = openSync(path, "w", 0o600);
  try {
    for (const group of groups) {
      const positions: Record<string, LogPosition> = Object.assign({}, ...group.map(({ head }) => head.positions));
      const order = Math.max(...group.map(({ head }) => head.order ?? 0));
      const { bytes } = packBlock(group.flatMap(linesOf), { positions, order }, limits.packLevelLast);
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    }
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(path, segment.path);
  syncFolder(segment.path);
  const { segment: fresh } = scanSegment(segment.path, segment.app, segment.hourAt);
  segment.bytes = fresh.bytes;
  segment.blocks = fresh.blocks.map((block) => ({ ...block, segment }));
  return true;
}

/** Neighbours that together are about one block. */
function groupsOf(blocks: readonly StoredBlock[], blockBytes: number): StoredBlock[][] {
  const groups: StoredBlock[][] = [];
  let bytes = 0;
  for (const block of blocks) {
    const last = groups.at(-1);
    if (last === undefined || bytes + block.head.rawBytes > blockBytes * 1.5) {
      groups.push([block]);
      bytes = block.head.rawBytes;
    } else {
      last.push(block);
      bytes += block.head.rawBytes;
    }
  }
  return groups;
}

/** All lines of a block. Throws `CorruptBlock`. */
function linesOf(block: StoredBlock): NewLine[] {
  const body = readBody(block);
  const columns = unpackColumns(block.head, body.columns);
  const texts = unpackText(body.text).toString().split("\n");
  return Array.from({ length: block.head.lines }, (_, line) => {
    const source = block.head.sources[columns.source[line] ?? 0];
    if (source === undefined) throw new Error(`a line of ${block.segment.path} has no source`);
    return {
      at: columns.at[line] ?? 0,
      source,
      stream: logStreams[columns.stream[line] ?? 0] ?? "stdout",
      level: levels[columns.level[line] ?? 0] ?? "none",
      text: texts[line] ?? "",
    };
  });
}
