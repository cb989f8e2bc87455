import type { Database } from "bun:sqlite";
import { keyText } from "../api/manifest-key.ts";
import type { ManifestHead } from "./store.ts";

/** Identity and versions of every manifest, in memory: read once, then kept up with each change. */
export interface Heads {
  all(): ManifestHead[];
  put(head: ManifestHead): void;
  drop(key: { kind: string; scope: string; name: string }): void;
  /** Drops the rows in memory: the next question reads them from the database. */
  forget(): void;
}

export function createHeads(db: Database): Heads {
  const select = db.query<ManifestHead, []>("select kind, scope, name, revision, generation from manifests");
  let heads: Map<string, ManifestHead> | undefined;
  return {
    all() {
      heads ??= new Map(select.all().map((head) => [keyText(head), head]));
      return [...heads.values()];
    },
    put(head) {
      heads?.set(keyText(head), head);
    },
    drop(key) {
      heads?.delete(keyText(key));
    },
    forget() {
      heads = undefined;
    },
  };
}
