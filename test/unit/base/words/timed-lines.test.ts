import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTimedLines, type TimedLine } from "../../../../src/base/words/timed-lines.ts";

const time = (at: number) => `2026-01-31T13:05:${String(at).padStart(2, "0")}.000000000Z `;
const options = { prefix: "[a] ", timestamps: false, lineBytesMax: 1024 * 1024 };
const shown = (lines: TimedLine[]) => lines.map(({ bytes }) => Buffer.from(bytes).toString());
const messageBytes = 16 * 1024;

/** As Docker writes it: a time in front of each message of a line. */
function stored(line: string, at = 0): string {
  const messages = [];
  for (let start = 0; start <= line.length; start += messageBytes)
    messages.push(line.slice(start, start + messageBytes));
  return `${messages.map((part) => time(at) + part).join("")}\n`;
}

test("the time is taken out, and orders the line", () => {
  const lines = createTimedLines(options);
  const read = [...lines.push(Buffer.from(`${time(1)}one\n${time(2)}`)), ...lines.push(Buffer.from("two"))];
  expect([...shown(read), ...shown(lines.rest())]).toEqual(["[a] one\n", "[a] two\n"]);
  expect(read[0]?.at).toBe("2026-01-31T13:05:01.000000000");
  expect(shown(lines.rest())).toEqual([]);
});

test("it stays where it was asked for, once a line", () => {
  const lines = createTimedLines({ ...options, timestamps: true });
  const long = "x".repeat(messageBytes + 1);
  expect(shown(lines.push(Buffer.from(stored(long, 7))))).toEqual([`[a] ${time(7)}${long}\n`]);
});

test("short fractions sort like long ones", () => {
  const lines = createTimedLines(options);
  const [a, b] = lines.push(Buffer.from("2026-01-31T13:05:01.1Z a\n2026-01-31T13:05:01.12Z b\n"));
  expect((a?.at ?? "") < (b?.at ?? "")).toBe(true);
});

test("a line without a time keeps its place behind the one before", () => {
  const lines = createTimedLines(options);
  const [first, second] = lines.push(Buffer.from(`${time(3)}one\nno time\n`));
  expect(second?.at).toBe(first?.at ?? "none");
  expect(shown([second as TimedLine])).toEqual(["[a] no time\n"]);
});

test("a line that is longer than the limit comes in pieces, which together are the line", () => {
  const lines = createTimedLines({ ...options, lineBytesMax: 20_000 });
  const long = Array.from({ length: 9_000 }, (_, at) => String(at).padStart(5, "0")).join("");
  const bytes = Buffer.from(stored(long, 4));
  const read: TimedLine[] = [];
  for (let at = 0; at < bytes.length; at += 777) read.push(...lines.push(bytes.subarray(at, at + 777)));
  expect(read.length).toBeGreaterThan(1);
  expect(new Set(read.map(({ at }) => at)).size).toBe(1);
  expect(
    shown(read)
      .map((piece) => piece.slice("[a] ".length, -1))
      .join(""),
  ).toBe(long);
});

test("however the bytes come in, the lines are those that were written", () => {
  const lengths = fc.oneof(
    fc.integer({ min: 0, max: 40 }),
    fc.constantFrom(messageBytes - 1, messageBytes, messageBytes + 1, 2 * messageBytes, 2 * messageBytes + 5),
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(lengths, { minLength: 1, maxLength: 6 }), cuts, (sizes, steps) => {
      const written = sizes.map((size, at) => String(at).repeat(size).slice(0, size));
      const bytes = Buffer.from(written.map((line, at) => stored(line, at)).join(""));
      const lines = createTimedLines(options);
      const read: TimedLine[] = [];
      for (let at = 0, step = 0; at < bytes.length; step++) {
        const size = steps[step % steps.length] ?? 1;
        read.push(...lines.push(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(shown([...read, ...lines.rest()])).toEqual(written.map((line) => `[a] ${line}\n`));
    }),
    { numRuns: 60 },
  );
});
