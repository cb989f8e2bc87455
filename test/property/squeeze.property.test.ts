import { expect, test } from "bun:test";
import fc from "fast-check";
import { createDemuxer } from "../../src/orchestration/engine/docker/demux.ts";
import { createHeadSqueeze } from "../../src/orchestration/engine/docker/log-stream.ts";

const cuts = fc.array(fc.nat(400));
const payload = fc.uint8Array({ maxLength: 40 });

function cutUp(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const edges = [0, ...at.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  // Copies: what is squeezed moves within its own memory.
  return edges.slice(1).map((end, index) => Uint8Array.from(bytes.subarray(edges[index], end)));
}

const squeezed = (squeeze: (chunk: Uint8Array) => Uint8Array, parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(squeeze(part))));

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
