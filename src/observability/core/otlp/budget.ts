/** Bytes that are not what they claim to be. The text says where. */
export class OtlpError extends Error {}

export interface DecodeLimits {
  /** Messages, and values of lists, in one request: a small body can hold millions of empty ones. */
  itemsMax: number;
  depthMax: number;
}

/** What a request may still hold. */
export interface Budget {
  item(): void;
  deeper<T>(work: () => T): T;
}

export function createBudget({ itemsMax, depthMax }: DecodeLimits): Budget {
  let items = 0;
  let depth = 0;
  return {
    item() {
      items += 1;
      if (items > itemsMax) throw new OtlpError(`the request has more than ${itemsMax} items; send smaller batches`);
    },
    deeper(work) {
      depth += 1;
      if (depth > depthMax) throw new OtlpError(`the request is nested deeper than ${depthMax} levels`);
      const result = work();
      depth -= 1;
      return result;
    },
  };
}
