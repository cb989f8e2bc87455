import type { Database } from "bun:sqlite";
import { type ManifestKey, sameKey } from "../api/manifest.ts";
import { keyOf } from "../api/manifest-key.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Noun = Pick<Transaction["manifests"], "setReservations" | "reservationConflicts">;

/**
 * Names that only one owner may use: several manifests may reserve one name as long as they give the same owner. The
 * table is called claims.
 */
export function createReservations(db: Database): Noun {
  const drop = db.query<unknown, KeyColumns>(`delete from claims where ${whereKey}`);
  const insert = db.query<unknown, [string, string, ...KeyColumns]>(
    "insert or ignore into claims (claim, owner, kind, scope, name) values (?, ?, ?, ?, ?)",
  );
  const others = db.query<ManifestKey, [string, string]>(
    "select kind, scope, name from claims where claim = ? and owner <> ? order by kind, scope, name",
  );
  return {
    setReservations(key, reservations) {
      drop.run(...columnsOf(key));
      for (const { name, owner } of reservations) insert.run(name, owner, ...columnsOf(key));
    },
    reservationConflicts(key, reservations) {
      return reservations.flatMap(({ name, owner }) => {
        const holder = others.all(name, owner).find((other) => !sameKey(other, key));
        return holder ? [{ name, heldBy: keyOf(holder) }] : [];
      });
    },
  };
}
