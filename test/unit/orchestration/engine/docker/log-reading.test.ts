import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLogFiles, whyNoFiles } from "../../../../../src/orchestration/engine/docker/log-reading.ts";
import { createLogText } from "../../../../../src/orchestration/engine/docker/log-text.ts";
import type { LogOptions } from "../../../../../src/orchestration/engine/session.ts";
import { dockerEntry, type EntryChange, rotateLog } from "../../../../support/docker-log-writer.ts";
import { waitFor } from "../../../../support/wait.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reading-"));
  path = join(folder, "c-json.log");
  writeFileSync(path, "");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (text: string, change?: EntryChange) => appendFileSync(path, dockerEntry(text, change));
const open = (
  change: Partial<LogOptions> = {},
  ended: Promise<void> = Promise.resolve(),
  signal = AbortSignal.any([]),
) =>
  readLogFiles({
    ...{ path, signal, ended: () => ended },
    ...{ follow: false, tail: undefined, since: undefined, timestamps: false },
    ...change,
  });
const read = async (change: Partial<LogOptions> = {}, ended?: Promise<void>) =>
  Buffer.concat(await Array.fromAsync(open(change, ended))).toString();
const time = "2026-01-31T13:00:00.5Z";

test("lines are the text of the container, also without a line end and with bytes beyond ASCII", async () => {
  write("one");
  write("zwei ü €");
  write("rest", { isPiece: true });
  expect(await read()).toBe("one\nzwei ü €\nrest");
});

test("a long line is whole, has one time, and the other stream waits for its end", async () => {
  write("a", { isPiece: true, time });
  write("other", { stream: "stderr", time: "2026-01-31T13:00:01Z" });
  write("b", { isPiece: true });
  write("c");
  write("next", { time: "2026-01-31T13:00:02.123456789Z" });
  expect(await read()).toBe("abc\nother\nnext\n");
  expect(await read({ timestamps: true })).toBe(
    "2026-01-31T13:00:00.500000000Z abc\n2026-01-31T13:00:01.000000000Z other\n2026-01-31T13:00:02.123456789Z next\n",
  );
  expect(await read({ since: Date.parse("2026-01-31T13:00:01Z") })).toBe("other\nnext\n");
});

test("a line that never ends holds up the other stream to the end only", async () => {
  write("open", { isPiece: true });
  write("other", { stream: "stderr" });
  expect(await read()).toBe("openother\n");
});

describe("while a line stays open", () => {
  test("the other stream reaches a follower, however often it writes", async () => {
    write("open", { isPiece: true });
    const stop = new AbortController();
    let text = "";
    const reading = (async () => {
      const parts = open({ follow: true }, new Promise(() => undefined), stop.signal);
      for await (const bytes of parts) text += Buffer.from(bytes).toString();
    })();
    const writing = setInterval(() => write("other", { stream: "stderr" }), 100);
    await waitFor("lines of the other stream", () => text.includes("other\nother"), 6_000).finally(() =>
      clearInterval(writing),
    );
    stop.abort();
    await reading;
  });

  test("empty lines of the other stream do not fill the memory", () => {
    const text = createLogText({ since: undefined, timestamps: false });
    const push = (entry: string) => text.push(Buffer.from(entry), 0, Buffer.byteLength(entry) - 1);
    push(dockerEntry("open", { isPiece: true }));
    text.take();
    const other = dockerEntry("", { stream: "stderr" });
    const enough = Math.ceil((1024 * 1024) / (other.length - 1)) + 1;
    for (let line = 0; line < enough; line++) push(other);
    expect(text.take().length).toBeGreaterThanOrEqual(enough - 1);
  });
});

describe("the last lines", () => {
  test("are counted across files and over pieces", async () => {
    write("one");
    write("two");
    rotateLog(path, 5, true);
    write("three ", { isPiece: true });
    rotateLog(path, 5, true);
    write("goes on");
    write("four");
    const from = async (tail: number) => (await read({ tail })).trimEnd().split("\n");
    expect(await read({ tail: 0 })).toBe("");
    expect(await from(1)).toEqual(["four"]);
    expect(await from(2)).toEqual(["three goes on", "four"]);
    expect(await from(3)).toEqual(["two", "three goes on", "four"]);
    expect(await from(9)).toEqual(["one", "two", "three goes on", "four"]);
  });

  test("are found where lines are longer than a look back, and an open line is one", async () => {
    const long = "x".repeat(200_000);
    for (const text of ["one", long, long, "four"]) write(text);
    write("open", { isPiece: true });
    expect(await read({ tail: 3 })).toBe(`${long}\nfour\nopen`);
    expect(await read({ tail: 1 })).toBe("open");
  });

  test("are searched in turns with everything else, and not in a file that was emptied meanwhile", async () => {
    writeFileSync(path, dockerEntry("line").repeat(20_000));
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    const parts = open({ tail: 20_000 });
    const first = await parts.next();
    clearInterval(counting);
    expect(Buffer.from(first.value ?? "").toString()).toStartWith("line\nline\n");
    expect(turns).toBeGreaterThan(5);
    await parts.return(undefined);

    const again = open({ tail: 1 });
    writeFileSync(path, dockerEntry("line").repeat(20_000));
    const reading = Array.fromAsync(again);
    writeFileSync(path, dockerEntry("new"));
    expect(Buffer.concat(await reading).toString()).toEndWith("new\n");
  });

  test("of what is new enough", async () => {
    write("old", { time: "2026-01-31T13:00:00Z" });
    write("new", { time: "2026-01-31T14:00:00Z" });
    expect(await read({ tail: 2, since: Date.parse("2026-01-31T13:30:00Z") })).toBe("new\n");
  });
});

test("a follower gets what is written later, from the lines that it wanted on, and ends with the container", async () => {
  const end = Promise.withResolvers<void>();
  write("before");
  const [whole, fresh] = [read({ follow: true }, end.promise), read({ follow: true, tail: 0 }, end.promise)];
  await Bun.sleep(30);
  write("one");
  rotateLog(path, 3);
  write("two");
  rotateLog(path, 3);
  write("last");
  end.resolve();
  expect(await whole).toBe("before\none\ntwo\nlast\n");
  expect(await fresh).toBe("one\ntwo\nlast\n");
});

test("a follower that stalls gets what Docker deletes meanwhile, and a follower of a gap is told of it", async () => {
  const end = Promise.withResolvers<void>();
  write("0");
  const parts = open({ follow: true }, end.promise);
  const texts = [Buffer.from((await parts.next()).value ?? "").toString()];
  for (let line = 1; line <= 20; line++) {
    rotateLog(path, 3);
    write(String(line));
    // The lookout holds what it sees; the reader itself does not come on.
    await Bun.sleep(10);
  }
  end.resolve();
  for await (const bytes of parts) texts.push(Buffer.from(bytes).toString());
  expect(texts.join("")).toBe(Array.from({ length: 21 }, (_, line) => `${line}\n`).join(""));

  rmSync(`${path}.2`);
  const again = open({ follow: true, tail: 1, timestamps: true }, new Promise(() => undefined));
  await again.next();
  for (let line = 21; line <= 30; line++) {
    rotateLog(path, 2);
    write(String(line), { time: `2026-01-31T15:00:${line}Z` });
  }
  let told = "";
  while (!told.endsWith(" 30\n")) told += Buffer.from((await again.next()).value ?? "").toString();
  await again.return(undefined);
  expect(told).toMatch(
    /^2026-01-31T15:00:29.000000000Z \[stream error\] lines between \S+ and \S+ may be missing: .*\n/,
  );
  const lines = told.trimEnd().split("\n").slice(1);
  expect(lines.map((line) => line.split(" ")[1])).toEqual(["29", "30"]);
});

test("a follower that waits ends with an abort, and fails where nobody can tell whether the container runs", async () => {
  const stop = new AbortController();
  const waiting = Array.fromAsync(open({ follow: true }, new Promise(() => undefined), stop.signal));
  setTimeout(() => stop.abort(), 20);
  expect(await waiting).toEqual([]);
  await expect(read({ follow: true }, Promise.reject(new Error("the engine is gone")))).rejects.toThrow("gone");
});

test("a silent log costs a look in two seconds", async () => {
  const stop = new AbortController();
  const waiting = Array.fromAsync(open({ follow: true }, new Promise(() => undefined), stop.signal));
  await Bun.sleep(200);
  const before = process.cpuUsage();
  await Bun.sleep(1_000);
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(200_000);
  const seen: string[] = [];
  const again = open({ follow: true }, new Promise(() => undefined), stop.signal);
  void (async () => {
    for await (const bytes of again) seen.push(Buffer.from(bytes).toString());
  })();
  await Bun.sleep(50);
  const at = performance.now();
  write("woken");
  await waitFor("the line", () => seen.includes("woken\n"));
  expect(performance.now() - at).toBeLessThan(1_500);
  stop.abort();
  await waiting;
});

test("without files that can be read it says why", () => {
  expect(whyNoFiles({ logPath: path })).toBeUndefined();
  expect(whyNoFiles({})).toContain("log driver");
  expect(whyNoFiles({ logPath: join(folder, "none") })).toContain("not on this machine");
  const file = join(folder, "file");
  writeFileSync(file, "");
  chmodSync(file, 0o600);
  expect(whyNoFiles({ logPath: join(file, "below") })).toContain("ENOTDIR");
});
