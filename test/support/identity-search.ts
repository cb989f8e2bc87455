import { Database } from "bun:sqlite";
import { parseSearch, type Search } from "../../src/identity/core/search.ts";
import { type SearchKind, searchColumns } from "../../src/identity/core/search-columns.ts";
import { createSearchIndex, type SearchIndex } from "../../src/identity/store/search/index.ts";
import { openIndexFile } from "../../src/identity/store/search/index-file.ts";
import { catchUp } from "../../src/identity/store/search/indexing.ts";
import type { SearchRequest, SearchResult } from "../../src/identity/store/search/request.ts";
import { runSearch, searchSteps, type SearchSteps } from "../../src/identity/store/search/run.ts";

/** Searches of an identity database, in this thread and without pauses. */
export interface TestSearch {
  index: SearchIndex;
  /** Ids found, newest first; all pages when `rowsMax` makes several. */
  ids(kind: SearchKind, instance: number, query: string | Search, options?: Partial<SearchRequest>): string[];
  page(kind: SearchKind, instance: number, query: string | Search, options?: Partial<SearchRequest>): SearchResult;
  /** Steps that the last search took. */
  readonly steps: number;
  close(): void;
}

export function openTestSearch(database: string, smallMax: number, sizes: SearchSteps = searchSteps): TestSearch {
  const file = openIndexFile(`${database}.search`, database);
  const db = new Database(database, { readonly: true });
  db.run("attach ? as grams", [`${database}.search`]);
  const index = createSearchIndex({ file, source: db, smallMax });
  let steps = 0;
  const page: TestSearch["page"] = (kind, instance, query, options = {}) => {
    const search = typeof query === "string" ? parseSearch(query, searchColumns[kind]) : query;
    const request = {
      kind,
      instance,
      search,
      rowsMax: 1_000_000,
      bytesMax: 100_000_000,
      before: undefined,
      ...options,
    };
    const run = runSearch({ db, index, isCurrent: (of, at) => catchUp(index, of, at), steps: sizes }, request);
    for (steps = 0; ; steps++) {
      const { done, value } = run.next();
      if (done === true) return value;
    }
  };
  return {
    index,
    page,
    ids(kind, instance, query, options) {
      const found: string[] = [];
      for (let before: number | undefined; ;) {
        const { body, next } = page(kind, instance, query, { ...options, before });
        for (const { id } of JSON.parse(body) as { id: string }[]) found.push(id);
        if (next === undefined) return found;
        before = next;
      }
    },
    get steps() {
      return steps;
    },
    close() {
      db.close();
      file.db.close();
    },
  };
}
