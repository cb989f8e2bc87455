import type { Database } from "bun:sqlite";
import { keyOf } from "../api/manifest-key.ts";
import { type ManifestKey, sameKey } from "../api/manifest.ts";
import { columnsOf, type KeyColumns, whereKey } from "./rows.ts";
import type { Transaction } from "./store.ts";

type Noun = Pick<Transaction["manifests"], "setClaims" | "claimConflicts">;

/** Names that only one owner may use: several manifests may hold one claim as long as they name the same owner. */
export function createClaims(db: Database): Noun {
  const drop = db.query<unknown, KeyColumns>(`delete from claims where ${whereKey}`);
  const insert = db.query<unknown, [string, string, ...KeyColumns]>(
    "insert or ignore into claims (claim, owner, kind, scope, name) values (?, ?, ?, ?, ?)",
  );
  const others = db.query<ManifestKey, [string, string]>(
    "select kind, scope, name from claims where claim = ? and owner <> ? order by kind, scope, name",
  );
  return {
    setClaims(key, claims) {
      drop.run(...columnsOf(key));
      for (const { claim, owner } of claims) insert.run(claim, owner, ...columnsOf(key));
    },
    claimConflicts(key, claims) {
      return claims.flatMap(({ claim, owner }) => {
        const holder = others.all(claim, owner).find((other) => !sameKey(other, key));
        return holder ? [{ claim, heldBy: keyOf(holder) }] : [];
      });
    },
  };
}
