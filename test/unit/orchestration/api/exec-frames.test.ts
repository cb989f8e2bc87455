import { expect, test } from "bun:test";
import {
  createFrameReader,
  encodeFrame,
  framePayloadBytesMax,
  frameTypes,
  jsonFrame,
  readJsonFrame,
} from "../../../../src/orchestration/api/exec-frames.ts";

test("one type byte, four bytes of length, the payload", () => {
  expect([...encodeFrame(frameTypes.stderr, Buffer.from("ab"))]).toEqual([2, 0, 0, 0, 2, 97, 98]);
  expect([...encodeFrame(frameTypes.stdin, new Uint8Array(0))]).toEqual([0, 0, 0, 0, 0]);
});

test("what is too long for one frame becomes several", () => {
  const payload = new Uint8Array(2 * framePayloadBytesMax + 1).fill(7);
  const { frames, fault } = createFrameReader().push(encodeFrame(frameTypes.stdout, payload));
  expect(fault).toBeUndefined();
  expect(frames.map((frame) => frame.payload.length)).toEqual([framePayloadBytesMax, framePayloadBytesMax, 1]);
  expect(Buffer.concat(frames.map((frame) => frame.payload)).equals(Buffer.from(payload))).toBe(true);
});

test("a length beyond the limit is a fault before anything is kept for it", () => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(framePayloadBytesMax + 1, 1);
  const { frames, fault } = createFrameReader().push(Buffer.concat([encodeFrame(1, Buffer.from("a")), head]));
  expect(frames).toHaveLength(1);
  expect(fault).toContain(`${framePayloadBytesMax + 1} bytes is too long`);
});

test("JSON payloads", () => {
  const [frame] = createFrameReader().push(jsonFrame(frameTypes.exit, { exit_code: 3 })).frames;
  expect(frame && readJsonFrame(frame)).toEqual({ exit_code: 3 });
  for (const text of ["", "{", "3", "null"]) {
    expect(readJsonFrame({ type: 3, payload: Buffer.from(text) })).toBeUndefined();
  }
});
