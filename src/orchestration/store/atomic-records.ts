import type { CoreKind, ManifestKey, Spec } from "../api/manifest.ts";

/** An apply of several resources that all go back when one of them fails. Times are epoch milliseconds. */
export interface AtomicApply {
  id: string;
  actor: string;
  /** `stuck`: one failed, and the others could not go back. */
  state: "waiting" | "kept" | "put_back" | "stuck";
  startedAt: number;
  endedAt: number | undefined;
  /** Why it went back, or why it could not. */
  error: string | undefined;
  /** `kind/scope/name` of the resource that failed. */
  failed?: string | undefined;
  members: AtomicMember[];
}

/** What the apply did to one resource, and what undoes it. */
export interface AtomicMember extends ManifestKey {
  kind: CoreKind;
  action: "created" | "updated" | "deleted" | "unchanged";
  /** As applied; 0 where it was deleted. */
  revision: number;
  /** The release that the apply began. */
  release: string | undefined;
  /** What was stored before; dropped once the apply has ended. */
  previous: Spec | undefined;
  /** The image that ran before. */
  imageId: string | undefined;
  /** What became of it: `left` is what somebody else changed since. Set once the apply has ended. */
  fate?: "kept" | "put_back" | "deleted" | "left";
  /** What became of it, for people; set once the apply has ended. */
  outcome: string | undefined;
}

export interface AtomicReads {
  get(id: string): AtomicApply | undefined;
  /** Those that wait, oldest first. */
  waiting(): AtomicApply[];
}

export interface AtomicWrites {
  /** Inserts or replaces by id. The newest `atomicKept` stay, and those that wait. */
  put(apply: AtomicApply): void;
}
