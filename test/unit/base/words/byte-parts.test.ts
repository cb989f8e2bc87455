import { expect, test } from "bun:test";
import { createByteParts } from "../../../../src/base/words/byte-parts.ts";

test("parts of any size make the body in their order", () => {
  const sizes = [1, 4_095, 4_096, 0, 3, 70_000, 4_000, 4_000, 4_000, 1];
  const sent = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index)));
  const body = createByteParts();
  let at = 0;
  for (const size of sizes) {
    body.add(sent.subarray(at, at + size));
    at += size;
  }
  expect(Buffer.concat(body.take())).toEqual(sent);
});

test("a body without parts is empty", () => expect(createByteParts().take()).toEqual([]));

test("a million parts of one byte are few, and keep nothing else", () => {
  const body = createByteParts();
  const whole = new Uint8Array(1_000_000).fill(7);
  for (let at = 0; at < whole.length; at += 1) body.add(whole.subarray(at, at + 1));
  const parts = body.take();
  expect(Buffer.concat(parts)).toEqual(Buffer.from(whole));
  expect(parts.length).toBeLessThan(30);
  expect(parts.every(({ buffer }) => buffer !== whole.buffer && buffer.byteLength <= 64 * 1024)).toBe(true);
});

test("a small body in one part takes no more memory than its bytes", () => {
  const whole = new Uint8Array(1_000_000).fill(7);
  const body = createByteParts();
  body.add(whole.subarray(5, 405));
  const [part, ...more] = body.take();
  expect(part).toEqual(whole.subarray(5, 405));
  expect(part?.buffer.byteLength).toBe(400);
  expect(more).toEqual([]);
});
