const headBytes = 8;

/**
 * Takes the heads out of the engine's framing of output without a terminal (see `createDemuxer`), both streams in
 * their order. A log comes as a frame per line: moving bytes within a chunk costs a fraction of cutting it up.
 */
export function createHeadSqueeze(): (chunk: Uint8Array) => Uint8Array {
  let headFilled = 0;
  let length = 0;
  let left = 0;
  return (chunk) => {
    let out = 0;
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const end = Math.min(at + left, chunk.length);
        chunk.copyWithin(out, at, end);
        out += end - at;
        left -= end - at;
        at = end;
        continue;
      }
      // The last four bytes of a head are the length; what stood in it before is shifted out.
      length = (length << 8) | (chunk[at] ?? 0);
      at += 1;
      headFilled += 1;
      if (headFilled < headBytes) continue;
      headFilled = 0;
      left = length >>> 0;
    }
    return chunk.subarray(0, out);
  };
}
