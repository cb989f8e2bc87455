import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogWalk, type LogWalk } from "../../../../src/base/machine/log-walk.ts";
import { dockerEntry, rotateLog } from "../../../support/docker-log-writer.ts";

let folder: string;
let path: string;
let walk: LogWalk;
let found: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "walk-"));
  path = join(folder, "c-json.log");
  found = [];
  walk = createLogWalk({
    path,
    onEntry: (bytes, from, end) => found.push(JSON.parse(bytes.toString("utf8", from, end)).log.trimEnd()),
    onLost: () => found.push("LOST"),
  });
});
afterEach(() => {
  walk.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (...texts: string[]) => appendFileSync(path, texts.map((text) => dockerEntry(text)).join(""));
const read = () => {
  while (!walk.step(1024 * 1024));
  return found;
};

test("files that were rotated away come first, the oldest before the others", () => {
  for (const text of ["one", "two", "three"]) {
    write(text);
    if (text !== "three") rotateLog(path, 5);
  }
  expect(read()).toEqual(["one", "two", "three"]);
});

test("compressed files are read, and a file that is compressed while it is read is recognized", () => {
  write("one");
  rotateLog(path, 5, true);
  write("two");
  rotateLog(path, 5, true);
  write("three");
  expect(read()).toEqual(["one", "two", "three"]);
  write("four");
  rotateLog(path, 5, true);
  write("five");
  rotateLog(path, 5, true);
  write("six");
  expect(read()).toEqual(["one", "two", "three", "four", "five", "six"]);
});

test("what is held is read after Docker has deleted it, and what was never seen is told", () => {
  write("one");
  read();
  for (const text of ["two", "three", "four", "five"]) {
    write(text);
    walk.hold();
    rotateLog(path, 2);
    walk.hold();
  }
  expect(read()).toEqual(["one", "two", "three", "four", "five"]);
  for (const text of ["six", "seven", "eight"]) {
    write(text);
    rotateLog(path, 2);
  }
  write("nine");
  expect(read().slice(5)).toEqual(["six", "LOST", "eight", "nine"]);
});

test("a file that is emptied in its place begins once more, also where more was written than before", () => {
  write("one", "two");
  read();
  writeFileSync(path, "");
  write("three");
  expect(read()).toEqual(["one", "two", "LOST", "three"]);
  writeFileSync(path, "");
  write("four", "five", "six", "seven");
  expect(read().slice(4)).toEqual(["LOST", "four", "five", "six", "seven"]);
});

test("while Docker is between two names nothing is skipped", () => {
  write("one");
  read();
  write("two");
  renameSync(path, `${path}.1`);
  expect(read()).toEqual(["one", "two"]);
  writeFileSync(path, dockerEntry("three"));
  renameSync(`${path}.1`, `${path}.2`);
  renameSync(path, `${path}.1`);
  expect(read()).toEqual(["one", "two"]);
  writeFileSync(path, dockerEntry("four"));
  expect(read()).toEqual(["one", "two", "three", "four"]);
});

test("a reading of what is there ends where it began, however much is written meanwhile", () => {
  const present: string[] = [];
  const reading = createLogWalk({
    ...{ path, isPresentOnly: true, onLost: () => undefined },
    onEntry(bytes, from, end) {
      present.push(JSON.parse(bytes.toString("utf8", from, end)).log.trimEnd());
      write("later");
      rotateLog(path, 9);
      write("much later");
    },
  });
  write("one");
  rotateLog(path, 9);
  write("two");
  while (!reading.step(1));
  reading.close();
  expect(present).toEqual(["one", "two"]);
});

test("where a name is missing for good it goes on with the newest file, and tells the gap", () => {
  for (const text of ["one", "two", "three", "four"]) {
    write(text);
    if (text === "one") read();
    rotateLog(path, 6);
  }
  write("five");
  rmSync(`${path}.2`);
  expect(read()).toEqual(["one", "LOST", "five"]);
});

test("the output of a container that is removed is read to its end", () => {
  write("one");
  read();
  write("two");
  rotateLog(path, 3);
  write("three");
  walk.hold();
  rmSync(folder, { recursive: true });
  expect(read()).toEqual(["one", "two", "three"]);
});

test("beside a writer that is faster no line comes twice or too late, and each gap is told", async () => {
  const lines = 20_000;
  const script = join(import.meta.dir, "../../../support/docker-log-writer.ts");
  const writer = Bun.spawn([process.execPath, script, path, String(lines), "100"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  let isOver = false;
  void writer.exited.then(() => {
    isOver = true;
  });
  for (let last = false; !last;) {
    last = isOver;
    while (!walk.step(16 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const faults: string[] = [];
  // On a busy machine the writer may have deleted files before the walk began; of these it knows nothing.
  let before = Number(found[0]) - 1;
  let isTold = false;
  for (const text of found) {
    const line = Number(text);
    if (text !== "LOST") {
      if (line <= before || (line !== before + 1 && !isTold)) faults.push(`${line} after ${before}`);
      before = line;
    }
    isTold = text === "LOST";
  }
  expect(faults).toEqual([]);
  expect(before).toBe(lines);
}, 60_000);

test("files of any size that Docker still keeps are read, and cost nothing to hold", () => {
  write("one");
  rotateLog(path, 5);
  write("two");
  // A hole, which takes no room on the disk.
  truncateSync(path, 65 * 1024 * 1024);
  appendFileSync(path, `\n${dockerEntry("three")}`);
  rotateLog(path, 5);
  write("four");
  const texts: string[] = [];
  const reading = createLogWalk({
    path,
    onEntry(bytes, from, end) {
      if (bytes[from] === 0x7b) texts.push(JSON.parse(bytes.toString("utf8", from, end)).log.trimEnd());
    },
    onLost: () => texts.push("LOST"),
  });
  while (!reading.step(1024 * 1024));
  reading.close();
  expect(texts).toEqual(["one", "two", "three", "four"]);
});
