import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSeen } from "../../src/orchestration/engine/docker/seen.ts";

const bytes = fc.uint8Array({ maxLength: 9_000, size: "max" });
const cuts = fc.array(fc.nat(20_000), { maxLength: 6 });

function cutUp(stream: Uint8Array, at: readonly number[]): Uint8Array[] {
  const edges = [0, ...at.filter((cut) => cut < stream.length).sort((a, b) => a - b), stream.length];
  return edges.slice(1).map((end, index) => stream.slice(edges[index], end));
}

test("what is read again goes on just behind what was seen, however both are cut", () => {
  fc.assert(
    fc.property(bytes, bytes, cuts, cuts, (first, later, one, other) => {
      const seen = createSeen();
      for (const part of cutUp(first, one)) seen.add(part);
      expect([seen.bytes(), seen.endsWith(first)]).toEqual([first.length, true]);
      const again = seen.again();
      const stream = Uint8Array.from(Buffer.concat([first, later]));
      const behind = cutUp(stream, other).map((part) => again.behind(part) ?? new Uint8Array([0, 0, 0]));
      expect(Buffer.concat(behind).equals(Buffer.from(later))).toBe(true);
      expect(again.caughtUp()).toBe(true);
    }),
  );
});

test("another stream is told from the one that was seen, and a shorter one is not caught up with", () => {
  const text = (from: number, to: number) =>
    Buffer.from(Array.from({ length: to - from }, (_, at) => `line ${from + at}\n`).join(""));
  const seen = createSeen();
  seen.add(text(0, 2_000));
  expect(seen.endsWith(text(1_999, 2_000))).toBe(true);
  expect(seen.endsWith(text(1_998, 1_999))).toBe(false);
  expect(seen.again().behind(text(500, 4_000))).toBeUndefined();
  const short = seen.again();
  expect([short.behind(text(0, 1_000))?.length, short.caughtUp()]).toEqual([0, false]);
});
