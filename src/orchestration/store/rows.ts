import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { Failure } from "../../base/wire/failure.ts";
import type { ManifestKey } from "../api/manifest.ts";

/** The first three parameters of every statement about one resource. */
export type KeyColumns = [kind: string, scope: string, name: string];

export function columnsOf(key: ManifestKey): KeyColumns {
  return [key.kind, key.scope, key.name];
}

export const whereKey = "kind = ? and scope = ? and name = ?";

/** Condition of an upsert by id: the row in the way belongs to the same resource. */
export const sameOwner = "kind = excluded.kind and scope = excluded.scope and name = excluded.name";

/** Such an upsert that changed nothing. */
export function idTaken(noun: string, id: string): Failure {
  return new Failure("conflict", `${noun} id "${id}" is taken by another resource: make another one`);
}

/** Filters by column; undefined stands for any. */
type Filter = Record<string, string | number | undefined>;

/**
 * A select whose `where` clause depends on which filters are given; each shape is prepared once. `conditions` names the
 * clause of every filter, `sqlOf` puts the clauses (each starting with `and`) into the statement.
 */
export function filteredSelect<Row>(
  db: Database,
  conditions: Record<string, string>,
  sqlOf: (clauses: string) => string,
): (filter: Filter, ...rest: SQLQueryBindings[]) => Row[] {
  const prepared = new Map<string, Statement<Row, SQLQueryBindings[]>>();
  return (filter, ...rest) => {
    const given = Object.keys(conditions).filter((column) => filter[column] !== undefined);
    const clauses = given.map((column) => ` and ${conditions[column]}`).join("");
    const statement = prepared.get(clauses) ?? db.query<Row, SQLQueryBindings[]>(sqlOf(clauses));
    prepared.set(clauses, statement);
    return statement.all(...given.map((column) => filter[column] ?? null), ...rest);
  };
}
