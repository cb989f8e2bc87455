import type { FromSearchThread, SearchSetup } from "./messages.ts";
import type { SearchRequest, SearchResult } from "./request.ts";
import { runSearch, type SearchSources } from "./run.ts";

/** Searches side by side, a step of each in turn, so that a slow one delays no other. */
export interface Searches {
  readonly waiting: boolean;
  add(id: number, request: SearchRequest): void;
  cancel(id: number): void;
  /** One step of the one whose turn it is. */
  step(): void;
}

interface Running {
  id: number;
  steps: Generator<undefined, SearchResult>;
  spentMs: number;
}

interface SearchesOptions {
  sources: SearchSources;
  setup: Pick<SearchSetup, "budgetMs" | "searchesMax">;
  post: (message: FromSearchThread) => void;
}

export function createSearches({ sources, setup, post }: SearchesOptions): Searches {
  const running: Running[] = [];

  function advance(one: Running): void {
    // Time of the processor: on a machine that is busy with other things a search takes longer, but does no more work.
    const before = threadMs();
    const { done, value } = one.steps.next();
    one.spentMs += threadMs() - before;
    if (done === true) post({ type: "found", id: one.id, body: value.body, next: value.next });
    else if (one.spentMs > setup.budgetMs) post({ type: "gave_up", id: one.id, why: "over_budget" });
    else running.push(one);
  }

  return {
    get waiting() {
      return running.length > 0;
    },
    add(id, request) {
      if (running.length >= setup.searchesMax) post({ type: "gave_up", id, why: "busy" });
      else running.push({ id, steps: runSearch(sources, request), spentMs: 0 });
    },
    cancel(id) {
      const at = running.findIndex((one) => one.id === id);
      if (at >= 0) running.splice(at, 1);
    },
    step() {
      const next = running.shift();
      if (next === undefined) return;
      try {
        advance(next);
      } catch (error) {
        post({ type: "failed", id: next.id, text: String(error) });
      }
    },
  };
}

/** A method of Node's process object, which exists in Bun, but not in the types that it comes with. */
type TellsThreadTime = typeof process & { threadCpuUsage(): { user: number; system: number } };

/** Time of the processor that this thread has used so far, in ms. */
export function threadMs(): number {
  const { user, system } = (process as TellsThreadTime).threadCpuUsage();
  return (user + system) / 1_000;
}
