import { keyText } from "../api/manifest-key.ts";
import type { ManifestKey } from "../api/manifest.ts";

/** A small table that is kept in memory, with at most one row about each resource. */
interface KeptTable<T> {
  get(key: ManifestKey): T | undefined;
  /** Call this after the row was written; undefined after it was deleted. */
  set(key: ManifestKey, row: T | undefined): void;
  /** Forgets the row about one resource, which went with its manifest, or all of them: writes were undone. */
  forget(about?: ManifestKey): void;
}

/** For tables that every look at a resource asks. `read` returns all rows, each with the resource that it is about. */
export function createKeptTable<T>(read: () => readonly (readonly [about: ManifestKey, row: T])[]): KeptTable<T> {
  let rows: Map<string, T> | undefined;
  return {
    get(key) {
      rows ??= new Map(read().map(([about, row]) => [keyText(about), row]));
      return rows.get(keyText(key));
    },
    set(key, row) {
      if (row === undefined) rows?.delete(keyText(key));
      else rows?.set(keyText(key), row);
    },
    forget(about) {
      if (about === undefined) rows = undefined;
      else rows?.delete(keyText(about));
    },
  };
}
