import type { Search } from "../../core/search.ts";
import type { SearchKind } from "../../core/search-columns.ts";

export interface SearchRequest {
  kind: SearchKind;
  instance: number;
  search: Search;
  rowsMax: number;
  bytesMax: number;
  /** Only rows before this `seq`: where the last page ended. */
  before: number | undefined;
}

export interface SearchResult {
  /** JSON array of resource objects, newest first. */
  body: string;
  /** `before` of the next page; undefined when there is none. */
  next: number | undefined;
}
