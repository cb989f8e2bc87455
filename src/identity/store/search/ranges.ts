import type { Search, Term } from "../../core/search.ts";
import type { SearchIndex, Zone } from "./index.ts";
import type { SearchRequest } from "./request.ts";

/** Rows by `seq`: `low` included, `high` not. */
export interface SeqRange {
  low: number;
  high: number;
}

/**
 * Where rows may be that are within the times of creation that the search asks for, newest first. What is not in an
 * index yet may hold anything.
 */
export function rangesOf(index: Pick<SearchIndex, "upto" | "zones">, request: SearchRequest): SeqRange[] {
  const everything = [{ low: 0, high: Number.MAX_SAFE_INTEGER }];
  const bounds = boundsOf(request.search);
  const upto = bounds === undefined ? undefined : index.upto(request.kind, request.instance);
  if (bounds === undefined || upto === undefined) return everything;
  const inside = ({ earliest, latest }: Zone) => latest >= bounds.from && earliest <= bounds.to;
  const zones = index.zones(request.kind, request.instance).filter(inside);
  return joined([{ low: upto + 1, high: Number.MAX_SAFE_INTEGER }, ...zones]);
}

/** Neighbours as one; the ranges come with the newest at the front. */
function joined(ranges: readonly SeqRange[]): SeqRange[] {
  const result: SeqRange[] = [];
  for (const { low, high } of ranges) {
    const last = result.at(-1);
    if (last !== undefined && last.low === high) last.low = low;
    else result.push({ low, high });
  }
  return result;
}

/** Times of creation that every row that is found lies within, both ends included; undefined when it says nothing of them. */
function boundsOf({ all, groups }: Search): { from: number; to: number } | undefined {
  const days = groups.filter(({ field }) => field === "created_at").map(({ oneOf }) => oneOf.flatMap(within));
  const compared = all.filter((term) => term.field === "created_at" && term.is === "compared");
  if (days.length === 0 && compared.length === 0) return undefined;
  const lows = compared.flatMap((term) => (term.is === "compared" && term.by.startsWith(">") ? [Number(term.to)] : []));
  const highs = compared.flatMap((term) =>
    term.is === "compared" && term.by.startsWith("<") ? [Number(term.to)] : [],
  );
  const earliest = days.map((some) => Math.min(...some.map(({ from }) => from)));
  const latest = days.map((some) => Math.max(...some.map(({ to }) => to)));
  return {
    from: Math.max(Number.NEGATIVE_INFINITY, ...lows, ...earliest),
    to: Math.min(Number.POSITIVE_INFINITY, ...highs, ...latest),
  };
}

function within(term: Term): { from: number; to: number }[] {
  return term.is === "within" ? [{ from: term.from, to: term.to }] : [];
}
