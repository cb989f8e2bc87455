import { expect, test } from "bun:test";
import { readFileSync, readlinkSync } from "node:fs";
import { cleanCode, codeBytes, createDropCode } from "../../../../src/base/machine/own-code.ts";

const program = "/opt/a program/berth";

function mapping(head: string, rows: Record<string, number> = {}): string {
  const all = { Size: 64, Rss: 16, Anonymous: 0, Swap: 0, SwapPss: 0, ...rows };
  const lines = Object.entries(all).map(([name, kib]) => `${`${name}:`.padEnd(16)}${String(kib).padStart(8)} kB`);
  return [head, ...lines, "VmFlags: rd ex mr mw me", ""].join("\n");
}

test.each([
  ["code", `00400000-00410000 r-xp 00001000 fe:00 12 ${program}`, {}, true],
  ["constants", `00400000-00410000 r--p 00000000 fe:00 12                         ${program}`, {}, true],
  [
    "what the program changed before it locked it",
    `00400000-00410000 r--p 0 fe:00 12 ${program}`,
    { Anonymous: 4 },
    false,
  ],
  ["the same, swapped out", `00400000-00410000 r--p 0 fe:00 12 ${program}`, { Swap: 4 }, false],
  ["what can be written", `00400000-00410000 rw-p 0 fe:00 12 ${program}`, {}, false],
  ["what is shared", `00400000-00410000 r-xs 0 fe:00 12 ${program}`, {}, false],
  ["another file", "00400000-00410000 r-xp 0 fe:00 12 /usr/lib/libc.so.6", {}, false],
  ["the program after it was replaced", `00400000-00410000 r-xp 0 fe:00 12 ${program} (deleted)`, {}, false],
  ["memory without a file", "00400000-00410000 r-xp 0 00:00 0", {}, false],
])("%s: dropped or kept", (_, head, rows, isDropped) => {
  const around = [
    mapping("00100000-00200000 rw-p 0 00:00 0 [heap]", { Anonymous: 8 }),
    mapping("00500000-00600000 rw-p 0 00:00 0"),
  ];
  const smaps = [around[0], mapping(head, rows), around[1]].join("");
  expect(cleanCode(smaps, program)).toEqual(isDropped ? [{ from: 0x400000, bytes: 0x10000 }] : []);
});

test("a kernel that does not say whether pages were changed: kept", () => {
  expect(cleanCode(`00400000-00410000 r-xp 0 fe:00 12 ${program}\nSize: 64 kB\n`, program)).toEqual([]);
});

test("the code of this process leaves its memory, and still runs", async () => {
  const drop = createDropCode();
  await drop();
  // What a second call runs is all that is back.
  const before = codeKib();
  new Intl.DateTimeFormat("en").format(0);
  Bun.gzipSync(new Uint8Array(100_000), { level: 9 });
  const between = codeKib();
  await drop();
  expect(between).toBeGreaterThan(before);
  expect(codeKib()).toBeLessThan(between);
  // Beside its own code there are those of libraries, and no other memory.
  expect(codeBytes() / 1_024).toBeGreaterThanOrEqual(codeKib());
  expect(codeBytes()).toBeLessThan(process.memoryUsage.rss());
  expect(JSON.parse('{"still": "here"}')).toEqual({ still: "here" });
});

/** Resident memory of the mappings that can be dropped. */
function codeKib(): number {
  const smaps = readFileSync("/proc/self/smaps", "utf8");
  const starts = cleanCode(smaps, readlinkSync("/proc/self/exe")).map(({ from }) => from);
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).reduce((sum, part) => {
    const isOurs = starts.includes(Number.parseInt(part, 16));
    return sum + (isOurs ? Number(/^Rss: +(\d+) kB$/m.exec(part)?.[1]) : 0);
  }, 0);
}
