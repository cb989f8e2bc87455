import { matches, type Search } from "../../core/search.ts";
import type { FoundRow, SearchTable } from "./tables.ts";

/** The answer under way: resource objects as JSON text, up to a number of rows and of bytes. */
export interface Page {
  /** Rows that still have a place: by their number, and by their size as far as the ones before tell of it. */
  readonly room: number;
  /** Part of the offered rows that were taken, from 0 (exclusive) to 1. */
  readonly yield: number;
  readonly full: boolean;
  /** Takes a row when it is found by the search. */
  offer(row: FoundRow): void;
  /** JSON array, and the `seq` to go on behind when there may be more. */
  result(): { body: string; next: number | undefined };
}

interface PageOptions {
  table: SearchTable;
  search: Search;
  /** Every row that is offered is known to be found. */
  exact: boolean;
  rowsMax: number;
  bytesMax: number;
}

/** Size of a resource, as long as nothing is known. */
const bytesPerRow = 256;

export function createPage({ table, search, exact, rowsMax, bytesMax }: PageOptions): Page {
  const texts: string[] = [];
  let bytes = 2;
  let last: number | undefined;
  let full = false;
  let offered = 0;
  return {
    get room() {
      const average = texts.length === 0 ? bytesPerRow : bytes / texts.length;
      // One more than fits: it tells that there is more.
      return Math.max(1, Math.min(rowsMax - texts.length, Math.ceil((bytesMax - bytes) / average) + 1));
    },
    get yield() {
      return (texts.length + 1) / (offered + 1);
    },
    get full() {
      return full;
    },
    offer(row) {
      offered += 1;
      if (full || (!exact && !matches(search, (field) => row[field]))) return;
      const text = JSON.stringify(table.resource(row));
      const size = Buffer.byteLength(text) + 1;
      // A single row is shown whatever its size: else the list could never get beyond it.
      if (bytes + size > bytesMax && texts.length > 0) {
        full = true;
        return;
      }
      texts.push(text);
      bytes += size;
      last = row.seq;
      full = texts.length >= rowsMax;
    },
    result: () => ({ body: `[${texts.join(",")}]`, next: full ? last : undefined }),
  };
}
