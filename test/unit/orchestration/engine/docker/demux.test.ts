import { describe, expect, test } from "bun:test";
import { createDemuxer } from "../../../../../src/orchestration/engine/docker/demux.ts";

const frame = (stream: number, text: string) => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
};
const texts = (parts: ReturnType<ReturnType<typeof createDemuxer>>) =>
  parts.map(({ stream, bytes }) => [stream, Buffer.from(bytes).toString()]);

describe("createDemuxer", () => {
  test("tells the streams apart, and joins what follows on one stream", () => {
    const demux = createDemuxer();
    const chunk = Buffer.concat([frame(1, "a"), frame(1, "b"), frame(2, "c"), frame(1, "d")]);
    expect(texts(demux(chunk))).toEqual([
      ["stdout", "ab"],
      ["stderr", "c"],
      ["stdout", "d"],
    ]);
  });

  test("hands on what has come of a frame, and goes on with the rest of it", () => {
    const demux = createDemuxer();
    const bytes = frame(2, "hello");
    expect(demux(bytes.subarray(0, 3))).toEqual([]);
    expect(demux(bytes.subarray(3, 8))).toEqual([]);
    expect(texts(demux(bytes.subarray(8, 10)))).toEqual([["stderr", "he"]]);
    expect(texts(demux(Buffer.concat([bytes.subarray(10), frame(1, "x")])))).toEqual([
      ["stderr", "llo"],
      ["stdout", "x"],
    ]);
  });

  test("an empty frame is nothing", () => {
    expect(texts(createDemuxer()(Buffer.concat([frame(2, ""), frame(1, "x")])))).toEqual([["stdout", "x"]]);
  });

  test("a length beyond two gigabytes is one, not a negative number", () => {
    const demux = createDemuxer();
    const head = Buffer.alloc(8);
    head[0] = 1;
    head.writeUInt32BE(0xf0000000, 4);
    expect(texts(demux(Buffer.concat([head, Buffer.from("abc")])))).toEqual([["stdout", "abc"]]);
    expect(texts(demux(Buffer.from("def")))).toEqual([["stdout", "def"]]);
  });
});
