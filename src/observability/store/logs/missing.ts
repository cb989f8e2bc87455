import { appKey, type LogApp } from "../../core/logs/line.ts";
import type { CompiledQuery } from "../../core/logs/query.ts";
import type { LogStore } from "./log-store.ts";
import { blockQuery, headFits } from "./match.ts";
import type { DamagedPart } from "./segment.ts";

/** Lines of an app that a query may mean and that cannot be read any more, because their blocks are damaged. */
export interface MissingLines {
  app: LogApp;
  /** Epoch milliseconds between which they lie. */
  from: number;
  until: number;
  blocks: number;
  /** How many there are; undefined where a block does not tell any more. */
  lines: number | undefined;
}

/** One entry for each app. */
export function missingLines(store: LogStore, query: CompiledQuery): MissingLines[] {
  const asked = blockQuery(query);
  const found = new Map<string, MissingLines>();
  for (const { app, damaged } of store.segments()) {
    if (damaged.length === 0 || !query.reaches(app)) continue;
    for (const { from, until, head } of damaged) {
      const fits = head === undefined ? until >= query.from && from < query.until : headFits(asked, head);
      if (fits) found.set(appKey(app), joined(found.get(appKey(app)), app, { from, until, head }));
    }
  }
  return [...found.values()];
}

function joined(one: MissingLines | undefined, app: LogApp, { from, until, head }: DamagedPart): MissingLines {
  if (one === undefined) return { app, from, until, blocks: 1, lines: head?.lines };
  return {
    app,
    from: Math.min(one.from, from),
    until: Math.max(one.until, until),
    blocks: one.blocks + 1,
    lines: one.lines === undefined || head === undefined ? undefined : one.lines + head.lines,
  };
}
