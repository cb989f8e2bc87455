import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDemuxer } from "../../src/orchestration/engine/docker/demux.ts";
import { createChunkSqueeze, createHeadSqueeze, type Squeeze } from "../../src/orchestration/engine/docker/squeeze.ts";

const cuts = fc.array(fc.nat(400));
const payload = fc.uint8Array({ maxLength: 40 });

function cutUp(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const edges = [0, ...at.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  // Copies: what is squeezed moves within its own memory.
  return edges.slice(1).map((end, index) => Uint8Array.from(bytes.subarray(edges[index], end)));
}

const squeezed = (squeeze: Squeeze, parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(squeeze.push(part))));

test("output without its heads is what the demultiplexer hands on, however it is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(1, 2), payload)), cuts, (frames, at) => {
      const stream = Buffer.concat(
        frames.map(([number, bytes]) => {
          const head = Buffer.from([number, 0, 0, 0, 0, 0, 0, 0]);
          head.writeUInt32BE(bytes.length, 4);
          return Buffer.concat([head, bytes]);
        }),
      );
      const demux = createDemuxer();
      const wanted = cutUp(stream, at).flatMap((part) => demux(part).map(({ bytes }) => bytes));
      expect(squeezed(createHeadSqueeze(), cutUp(stream, at))).toEqual(Buffer.concat(wanted));
    }),
  );
});

const extension = fc.constantFrom("", ";a", ";a=b0", ' ;x="1"');

test("chunks become what was sent, whole, however they are cut and written", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(payload, extension, fc.boolean())), cuts, (chunks, at) => {
      const sent = chunks.filter(([bytes]) => bytes.length > 0);
      const stream = Buffer.concat([
        ...sent.flatMap(([bytes, said, upper]) => {
          const length = bytes.length.toString(16);
          return [Buffer.from(`${upper ? length.toUpperCase() : length}${said}\r\n`), bytes, Buffer.from("\r\n")];
        }),
        Buffer.from("0\r\nTrailer: 1f\r\n\r\n"),
      ]);
      const squeeze = createChunkSqueeze();
      expect(squeezed(squeeze, cutUp(stream, at))).toEqual(Buffer.concat(sent.map(([bytes]) => bytes)));
      expect(squeeze.ended()).toBe(true);
    }),
  );
});

test("what is cut off has not ended; a chunk without a length is an error, never a wrong length", () => {
  const squeeze = createChunkSqueeze();
  expect(squeezed(squeeze, [Buffer.from("5\r\nhel")]).toString()).toBe("hel");
  expect(squeeze.ended()).toBe(false);
  for (const text of ["\r\n", "xyz\r\n", ";5\r\n", "5z\r\nhello", "123456789\r\n", "-1\r\n"]) {
    expect(() => createChunkSqueeze().push(Buffer.from(text))).toThrow("a chunk of its answer has no length");
  }
});
