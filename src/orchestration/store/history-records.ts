import type { ManifestKey, Spec } from "../api/manifest.ts";

/** A change of what is wanted. Times are epoch milliseconds. */
export interface HistoryChange extends ManifestKey {
  seq: number;
  at: number;
  revision: number | undefined;
  actor: string;
  /** The action of its event; `history.begin` for what was stored before there was a history. */
  action: string;
  detail: Record<string, unknown> | undefined;
  isDelete: boolean;
}

/** What was wanted of one resource, and since when. */
export interface WantedState extends ManifestKey {
  seq: number;
  at: number;
  actor: string;
  revision: number;
  /** Secrets opened. */
  spec: Spec;
  /** What a block of a plugin was expanded into; undefined for a manifest. */
  children: ManifestKey[] | undefined;
}

/** A part of the history; undefined stands for any. `isSeen` is asked once for each resource. */
type HistoryFilter = { [Column in keyof ManifestKey]?: ManifestKey[Column] | undefined } & { isSeen?: IsSeen };

export type IsSeen = ((key: ManifestKey) => boolean) | undefined;

/** Written with the events: one that says that another spec is wanted, or none, also records that state. */
export interface HistoryReads {
  /** Newest first; `before` is the number of a change. */
  list(filter: HistoryFilter & { before?: number | undefined; limit: number }): HistoryChange[];
  /** The first time that `at` can answer for; undefined before the first change. */
  begins(): number | undefined;
  /** All that was wanted at a time, by kind, scope and name. Ask `begins` first. */
  at(time: number, filter: HistoryFilter): WantedState[];
}
