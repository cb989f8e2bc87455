import type { SearchRequest } from "./request.ts";

/** What the search thread is started with. */
export interface SearchSetup {
  /** Path of the identity database. */
  database: string;
  /** Path of the index; made when missing. */
  index: string;
  /** Work that one search may take, in ms of the thread. */
  budgetMs: number;
  /** Searches under way at one time; one more is refused. */
  searchesMax: number;
  /** Instances with no more rows have no index. */
  smallMax: number;
  /** Between two looks at what has changed while no search runs. */
  idleMs: number;
  /** Pages of the database kept in memory. */
  cacheKib: number;
}

export type ToSearchThread =
  | { type: "open"; setup: SearchSetup }
  | { type: "search"; id: number; request: SearchRequest }
  | { type: "cancel"; id: number }
  | { type: "close" };

export type FromSearchThread =
  | { type: "ready" }
  | { type: "found"; id: number; body: string; next: number | undefined }
  /** `over_budget`: it takes more work than a search may. `busy`: too many at the same time. */
  | { type: "gave_up"; id: number; why: "over_budget" | "busy" }
  | { type: "failed"; id: number | undefined; text: string }
  /** Changes up to this number are in the indexes: their records are not needed any more. */
  | { type: "indexed"; changes: number }
  | { type: "closed" };
