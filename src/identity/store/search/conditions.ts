import { isAscii } from "../../core/fold.ts";
import type { Search, Term } from "../../core/search.ts";
import type { SearchTable } from "./tables.ts";

/** A piece of SQL with what is bound in it. */
export interface Condition {
  sql: string;
  values: (string | number)[];
}

export function columnOf(table: SearchTable, field: string): string {
  return table.sql[field] ?? `t.${field}`;
}

/** Whether the conditions say all of the search: a row that meets them is found. */
export function tellsAll(table: SearchTable, { groups, all, none }: Search): boolean {
  const terms = [...groups.flatMap(({ oneOf }) => oneOf), ...all, ...none];
  return terms.every((term) => termCondition(table, term) !== undefined);
}

/**
 * What every row that is found meets, as SQL. Conditions that SQLite cannot tell as we mean them (case beyond ASCII)
 * are left out: the rows are looked at once more by `matches`, which decides.
 */
export function conditionsOf(table: SearchTable, { groups, all, none }: Search): Condition[] {
  const alternatives = groups.flatMap(({ oneOf }) => {
    const terms = oneOf.map((term) => termCondition(table, term));
    const known = terms.flatMap((term) => term ?? []);
    if (known.length < terms.length) return [];
    return [{ sql: `(${known.map(({ sql }) => sql).join(" or ")})`, values: known.flatMap(({ values }) => values) }];
  });
  const required = all.flatMap((term) => termCondition(table, term) ?? []);
  const refused = none.flatMap((term) => {
    const condition = termCondition(table, term);
    return condition === undefined ? [] : [{ ...condition, sql: `not coalesce(${condition.sql}, 0)` }];
  });
  return [...alternatives, ...required, ...refused];
}

/** Undefined when SQLite would see it otherwise. The unary plus keeps the planner from choosing an index by itself. */
function termCondition(table: SearchTable, term: Term): Condition | undefined {
  const column = columnOf(table, term.field);
  switch (term.is) {
    case "equal":
      return { sql: `+${column} = ?`, values: [term.value] };
    case "within":
      return { sql: `(+${column} >= ? and +${column} < ?)`, values: [term.from, term.to] };
    case "compared":
      return { sql: `+${column} ${term.by} ?`, values: [term.to] };
    case "like": {
      const { segments, fromStart, toEnd } = term.pattern;
      if (!segments.every((segment) => isAscii(segment) && !segment.includes("\0"))) return undefined;
      const inner = segments.map(escapeLike).join("%");
      const pattern = segments.length === 0 ? "%" : `${fromStart ? "" : "%"}${inner}${toEnd ? "" : "%"}`;
      return { sql: `+${column} like ? escape '\\'`, values: [pattern] };
    }
  }
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (character) => `\\${character}`);
}

/** `and`-joined, for a statement that has a condition already. */
export function andAll(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => ` and ${sql}`).join(""),
    values: conditions.flatMap(({ values }) => values),
  };
}
