import type { Span } from "./span.ts";

interface Placed<S> {
  span: S;
  /** 0 for a root, and for a span whose parent did not come. */
  depth: number;
}

/** Spans with each parent before its children, and children by their beginning. Spans that came twice are there once. */
export function treeOf<S extends Pick<Span, "id" | "parent" | "atUs">>(spans: readonly S[]): Placed<S>[] {
  const byId = new Map<string, S>();
  for (const span of spans) if (!byId.has(span.id)) byId.set(span.id, span);
  const sorted = [...byId.values()].sort((a, b) => a.atUs - b.atUs);
  const children = Map.groupBy(sorted, ({ parent }) => parent);
  const placed: Placed<S>[] = [];
  const left = new Set(byId.keys());
  const visit = (root: S) => {
    // By hand, as a chain of calls may be deeper than the stack.
    const waiting: Placed<S>[] = [{ span: root, depth: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (!left.delete(next.span.id)) continue;
      placed.push(next);
      const depth = next.depth + 1;
      for (const span of (children.get(next.span.id) ?? []).toReversed()) waiting.push({ span, depth });
    }
  };
  for (const span of sorted) if (!byId.has(span.parent)) visit(span);
  // Spans that are each other's parents.
  for (const span of sorted) if (left.has(span.id)) visit(span);
  return placed;
}
