import { expect, test } from "bun:test";
import type { LogFile } from "../../../../../src/base/machine/log-file.ts";
import { lastLinesAt } from "../../../../../src/orchestration/engine/docker/log-reading.ts";
import { dockerEntry } from "../../../../support/docker-log-writer.ts";

test("a search through compressed files keeps one of them unpacked at a time", () => {
  let unpacked = 0;
  let most = 0;
  const bytes = Buffer.from(dockerEntry("line").repeat(10));
  const packed = (): LogFile => {
    let isUnpacked = false;
    const unpack = () => {
      if (!isUnpacked) unpacked += 1;
      isUnpacked = true;
      most = Math.max(most, unpacked);
      return bytes;
    };
    const rest = () => {
      if (isUnpacked) unpacked -= 1;
      isUnpacked = false;
    };
    const read = (into: Buffer, at: number) => unpack().copy(into, 0, at);
    const size = () => unpack().length;
    const ready = async () => void unpack();
    return {
      ...{ inode: undefined, identity: () => "", head: () => "", heldBytes: () => 0, size, read, rest, close: rest },
      ready: () => (isUnpacked ? undefined : ready()),
    };
  };
  const search = lastLinesAt([packed(), packed(), packed()], 25);
  let found = search.next();
  let waits = 0;
  while (found.done !== true) {
    if (found.value !== undefined) waits += 1;
    found = search.next();
  }
  expect(waits).toBe(3);
  expect(found.value).toEqual({ index: 0, offset: bytes.length / 2 });
  expect(most).toBe(1);
});
