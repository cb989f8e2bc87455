import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFrameReader, encodeFrame, type Frame } from "../../src/orchestration/api/exec-frames.ts";

const frame = fc.record({ type: fc.nat({ max: 255 }), payload: fc.uint8Array({ maxLength: 400 }) });

/** Cuts bytes at arbitrary places. */
function cut(bytes: Uint8Array, sizes: number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...parts, bytes.subarray(at)];
}

test("what is encoded is read back, however the stream is cut", () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.nat({ max: 50 })), (frames, sizes) => {
      const stream = Buffer.concat(frames.map(({ type, payload }) => encodeFrame(type, payload)));
      const reader = createFrameReader();
      const read: Frame[] = cut(stream, sizes).flatMap((part) => reader.push(part).frames);
      expect(read).toEqual(frames.map(({ type, payload }) => ({ type, payload: new Uint8Array(payload) })));
      expect(reader.empty).toBe(true);
    }),
  );
});

test("a cut stream holds the frames before the cut, and says that it is not at an end", () => {
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1 }), fc.nat(), (frames, seed) => {
      const encoded = frames.map(({ type, payload }) => encodeFrame(type, payload));
      const stream = Buffer.concat(encoded);
      const length = seed % stream.length;
      const reader = createFrameReader();
      const { frames: read } = reader.push(stream.subarray(0, length));
      let end = 0;
      const whole = encoded.filter(({ length: bytes }) => {
        end += bytes;
        return end <= length;
      });
      expect(read).toHaveLength(whole.length);
      expect(reader.empty).toBe(Buffer.concat(whole).length === length);
    }),
  );
});
