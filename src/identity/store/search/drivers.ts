import type { Search, Term } from "../../core/search.ts";
import type { Condition } from "./conditions.ts";
import { columnOf } from "./conditions.ts";
import type { SearchTable } from "./tables.ts";

/** Ways into a table by an index: every row that is found lies within one of `ranges`. */
export interface Driver {
  ranges: Condition[];
  /** Index that has the rows of its one range in the order of `seq`. */
  ordered?: string;
}

/** What indexes can narrow a search down to, the most promising first. */
export function driversOf(table: SearchTable, search: Search): Driver[] {
  const byGroups = search.groups.flatMap(({ oneOf }) => {
    const ranges = oneOf.map((term) => rangeOf(table, term));
    const known = ranges.flatMap((range) => range ?? []);
    if (known.length < ranges.length) return [];
    const equal = oneOf.every(({ is }) => is === "equal");
    const [only, ...others] = oneOf;
    const index = only?.is === "equal" && others.length === 0 ? table.equal[only.field]?.index : undefined;
    return [{ ranges: known, rank: equal ? 0 : 1, ...(index === undefined ? {} : { ordered: index }) }];
  });
  const byTimes = table.times.flatMap((field) => {
    const bounds = search.all.flatMap((term) => (term.field === field && term.is === "compared" ? [term] : []));
    if (bounds.length === 0) return [];
    const sql = bounds.map(({ by }) => `${columnOf(table, field)} ${by} ?`).join(" and ");
    return [{ ranges: [{ sql, values: bounds.map(({ to }) => to) }], rank: 2 }];
  });
  return [...byGroups, ...byTimes].sort((a, b) => a.rank - b.rank);
}

function rangeOf(table: SearchTable, term: Term): Condition | undefined {
  switch (term.is) {
    case "equal": {
      const equal = table.equal[term.field];
      return equal === undefined ? undefined : { sql: equal.sql, values: [term.value] };
    }
    case "within": {
      if (!table.times.includes(term.field)) return undefined;
      const column = columnOf(table, term.field);
      return { sql: `${column} >= ? and ${column} < ?`, values: [term.from, term.to] };
    }
    case "like":
      return prefixRange(table, term.field, term.pattern);
    case "compared":
      return undefined;
  }
}

type Pattern = Extract<Term, { is: "like" }>["pattern"];

/**
 * The range of a pattern that begins with plain ASCII: what is beyond it may be ordered otherwise than folded text. A domain that
 * is read otherwise than it is stored begins otherwise too.
 */
function prefixRange(table: SearchTable, field: string, pattern: Pattern): Condition | undefined {
  const { segments, fromStart, readable = false } = pattern;
  const column = table.prefix[field];
  const beginning = readable ? /^[\x01-\x3f\x41-\x7e]+@?/ : /^[\x01-\x7e]+/;
  const [start] = fromStart ? (beginning.exec(segments[0] ?? "") ?? []) : [];
  if (column === undefined || start === undefined) return undefined;
  const end = start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + 1);
  return { sql: `${column} >= ? and ${column} < ?`, values: [start, end] };
}
