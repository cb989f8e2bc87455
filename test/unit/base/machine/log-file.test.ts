import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type LogFile, openLogFile, watchOnce } from "../../../../src/base/machine/log-file.ts";
import { createLogWalk } from "../../../../src/base/machine/log-walk.ts";
import { dockerEntry } from "../../../support/docker-log-writer.ts";
import { waitFor } from "../../../support/wait.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "log-file-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a compressed file", () => {
  const entries = Array.from({ length: 20_000 }, (_, line) => dockerEntry(`line ${line} ${"x".repeat(line % 90)}`));
  const whole = Buffer.from(entries.join(""));
  const plant = (bytes: Uint8Array) => {
    const path = join(folder, "c-json.log.1");
    writeFileSync(`${path}.gz`, bytes);
    const file = openLogFile(path);
    if (file === undefined) throw new Error("it was to be opened");
    return file;
  };
  const readWhole = (file: LogFile, blockBytes: number) => {
    const parts: Buffer[] = [];
    for (let at = 0; ;) {
      const block = Buffer.alloc(blockBytes);
      const count = file.read(block, at);
      if (count === 0) return Buffer.concat(parts);
      parts.push(block.subarray(0, count));
      at += count;
    }
  };

  test("reads the same, whether it was unpacked beside or at once, at any place", async () => {
    const beside = plant(gzipSync(whole));
    const atOnce = plant(gzipSync(whole));
    await beside.ready();
    expect([beside.ready(), beside.size(), atOnce.size()]).toEqual([undefined, whole.length, whole.length]);
    for (const file of [beside, atOnce]) expect(readWhole(file, 100_003).equals(whole)).toBe(true);
    const across = Buffer.alloc(20);
    const at = 256 * 1024 - 10;
    expect([beside.read(across, at), whole.subarray(at, at + 20).equals(across)]).toEqual([20, true]);
    expect(beside.read(across, whole.length)).toBe(0);
    for (const file of [beside, atOnce]) file.close();
  });

  test("is unpacked again after a rest, once for several that wait", async () => {
    const file = plant(gzipSync(whole));
    expect(file.ready()).toBe(file.ready());
    await file.ready();
    file.rest();
    await file.ready();
    expect(file.size()).toBe(whole.length);
    file.close();
  });

  test("that is damaged is no reason to wait for ever: reading it tells", async () => {
    const packed = gzipSync(whole);
    const file = plant(packed.subarray(0, packed.length - 2_000));
    await file.ready();
    expect(file.ready()).toBeUndefined();
    expect(() => file.size()).toThrow();
    file.close();
  });

  test("makes a walk wait instead of unpacking it in a step", async () => {
    const path = join(folder, "c-json.log");
    writeFileSync(path, dockerEntry("last"));
    writeFileSync(`${path}.1.gz`, gzipSync(whole));
    let count = 0;
    const walk = createLogWalk({
      ...{ path, isPresentOnly: true, isBeside: true, onLost: () => undefined },
      onEntry: () => {
        count += 1;
      },
    });
    expect([walk.step(1), count]).toEqual([false, 0]);
    expect(walk.waits()).toBeInstanceOf(Promise);
    await walk.waits();
    while (!walk.step(64 * 1024)) await walk.waits();
    expect(count).toBe(entries.length + 1);
    walk.close();
  });
});

describe("a watch", () => {
  test("of a local file is sure, and notices the first change", async () => {
    const path = join(folder, "watched");
    writeFileSync(path, "");
    let changes = 0;
    const { isSure } = watchOnce(path, () => {
      changes += 1;
    });
    writeFileSync(path, "more");
    await waitFor("the change", () => changes === 1);
    expect(isSure).toBe(true);
  });

  test("of a file that is not there, or on a file system without a disk of its own, is not sure", () => {
    for (const path of [join(folder, "none"), "/proc/self/status"]) {
      const { isSure, end } = watchOnce(path, () => undefined);
      expect(isSure).toBe(false);
      end();
    }
  });
});
