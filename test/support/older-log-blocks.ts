import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filterOf } from "../../src/observability/core/logs/grams.ts";
import { type BlockHead, prefixBytes, readPrefix, unpackText } from "../../src/observability/store/logs/block.ts";

/** Makes all blocks of a log folder such as servers wrote them whose filters were of the lines as they are written. */
export function ageBlocks(folder: string): void {
  for (const path of new Bun.Glob("**/*.blocks").scanSync({ cwd: folder, absolute: false }))
    writeFileSync(join(folder, path), aged(readFileSync(join(folder, path))));
}

function aged(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const prefix = readPrefix(bytes.subarray(at));
    if (prefix === undefined) throw new Error("not a block");
    const headAt = at + prefixBytes;
    const bodyAt = headAt + prefix.headBytes;
    const { index: _, ...head } = JSON.parse(bytes.subarray(headAt, bodyAt).toString()) as BlockHead;
    const body = bytes.subarray(bodyAt, bodyAt + prefix.bodyBytes);
    const rest = body.subarray(head.filterBytes);
    const filter = filterOf(unpackText(rest.subarray(head.columnBytes)));
    const older = { ...head, filterBytes: filter.length, filterSum: Bun.hash.crc32(filter) };
    parts.push(framed(bytes.subarray(at, headAt), older, [filter, rest]));
    at = bodyAt + prefix.bodyBytes;
  }
  return Buffer.concat(parts);
}

function framed(before: Uint8Array, head: BlockHead, parts: Uint8Array[]): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const body = Buffer.concat(parts);
  const prefix = Buffer.from(before);
  prefix.writeUInt32LE(json.length, 4);
  prefix.writeUInt32LE(body.length, 8);
  prefix.writeUInt32LE(Bun.hash.crc32(json), 12);
  prefix.writeUInt32LE(Bun.hash.crc32(body), 16);
  return Buffer.concat([prefix, json, body]);
}
