/** A body while it comes. */
export interface ByteParts {
  /** The part may be a view of more; small ones are copied. */
  add(part: Uint8Array): void;
  /** All of it, in order; nothing is added any more. */
  take(): Uint8Array[];
}

/** A view costs a hundred bytes, and keeps all that it is a view of: too much for parts that are smaller than this. */
const copiedBelow = 4 * 1024;
const blockBytesMax = 64 * 1024;

const nothing = new Uint8Array(0);

export function createByteParts(): ByteParts {
  const parts: Uint8Array[] = [];
  /** Holds small parts, copied one behind the other. */
  let block = nothing;
  let filled = 0;
  const endBlock = () => {
    if (filled > 0) parts.push(filled === block.length ? block : block.subarray(0, filled));
    filled = 0;
  };
  return {
    add(part) {
      if (part.length >= copiedBelow) {
        endBlock();
        block = nothing;
        parts.push(part);
        return;
      }
      if (part.length > block.length - filled) {
        endBlock();
        // Most small bodies come in one part, for which a block is as long as the part.
        const isFirst = block.length === 0;
        block = new Uint8Array(
          isFirst ? part.length : Math.min(blockBytesMax, Math.max(copiedBelow, block.length * 2)),
        );
      }
      block.set(part, filled);
      filled += part.length;
    },
    take() {
      endBlock();
      return parts;
    },
  };
}
