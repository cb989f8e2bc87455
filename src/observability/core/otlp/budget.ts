/** Bytes that are not what they claim to be. The text says where. */
export class OtlpError extends Error {}

/** A request that holds more than its sender may send now. */
export class OverBudgetError extends Error {}

interface DecodeLimits {
  /** Messages, and values of lists, in one request: a small body can hold millions of empty ones. */
  itemsMax: number;
  depthMax: number;
  /** What the sender may still send; decoding stops there. */
  bytesLeft: number;
  /** As many bytes count at least: any item, and one that is kept by itself. Empty ones are work as well. */
  itemBytes: number;
  entryBytes: number;
}

/** What a request may still hold. */
export interface Budget {
  /** Counts one item. `isEntry`: a log record, a data point or a span. */
  item(isEntry?: boolean): void;
  deeper<T>(work: () => T): T;
  /** Bytes that the items so far count as. */
  spent(): number;
}

export function createBudget({ itemsMax, depthMax, bytesLeft, itemBytes, entryBytes }: DecodeLimits): Budget {
  let items = 0;
  let depth = 0;
  let spent = 0;
  return {
    item(isEntry = false) {
      items += 1;
      if (items > itemsMax) throw new OtlpError(`the request has more than ${itemsMax} items; send smaller batches`);
      spent += isEntry ? entryBytes : itemBytes;
      if (spent > bytesLeft) throw new OverBudgetError();
    },
    deeper(work) {
      depth += 1;
      if (depth > depthMax) throw new OtlpError(`the request is nested deeper than ${depthMax} levels`);
      const result = work();
      depth -= 1;
      return result;
    },
    spent: () => spent,
  };
}
