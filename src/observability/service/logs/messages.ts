import type { LoggedContainer, CaptureLimits, CaptureState } from "../../collect/logs/capture.ts";
import type { Order } from "../../core/logs/cursor.ts";
import type { FoundLine, LogApp } from "../../core/logs/line.ts";
import type { LogQuery } from "../../core/logs/query.ts";
import type { Histogram } from "../../store/logs/histogram.ts";
import type { LogStoreLimits, LogStoreState } from "../../store/logs/log-store.ts";
import type { MissingLines } from "../../store/logs/missing.ts";

/** What the thread of the logs is started with. */
export interface LogSetup {
  folder: string;
  store: LogStoreLimits & { sweepMs: number; clockJumpMs: number; clockHoldMs: number };
  capture: CaptureLimits;
  search: { budgetMs: number; sliceMs: number; atOnceMax: number; followLinesMax: number };
}

/** A query that can go to another thread. */
export interface AskedLines extends Omit<LogQuery, "mayReach"> {
  /** Globs of the apps that the asking token may see; empty: all. */
  reach: readonly string[];
}

export interface AskedPage {
  query: AskedLines;
  order: Order;
  limit: number;
  /** The line that reaches this is the last one of the page. */
  charactersMax?: number;
  cursor?: string;
}

export interface FoundPage {
  lines: FoundLine[];
  cursor: string | undefined;
  /** Epoch milliseconds; see `SearchPage`. */
  stoppedAt: number | undefined;
  missing: MissingLines[];
}

export interface KeeperState {
  store: LogStoreState;
  capture: CaptureState;
  /** Reading is behind what the pods write: lines with older times are still to come. */
  catchingUp: boolean;
}

/** Each question, and what its answer is. */
export interface Questions {
  search: { ask: AskedPage; answer: FoundPage };
  histogram: { ask: { query: AskedLines; bucketsMax: number }; answer: Histogram & { missing: MissingLines[] } };
  drain: { ask: { id: string }; answer: null };
  ingest: { ask: { app: LogApp; packed: Uint8Array[] }; answer: null };
  state: { ask: null; answer: KeeperState };
}
export type QuestionName = keyof Questions;

export type ToLogThread =
  | { type: "open"; setup: LogSetup }
  | { type: "watch"; containers: LoggedContainer[] }
  | { [Q in QuestionName]: { type: Q; id: number; ask: Questions[Q]["ask"] } }[QuestionName]
  /** First the stored lines, at most `tail` of them, then those that come, until `cancel`. */
  | { type: "follow"; id: number; query: AskedLines; tail: number }
  | { type: "cancel"; id: number }
  | { type: "close" };

export type FromLogThread =
  | { type: "answer"; id: number; answer: Questions[QuestionName]["answer"] }
  | { type: "failed"; id: number; code: string; message: string }
  /** `skipped`: lines that came faster than they were taken. */
  | { type: "lines"; id: number; lines: FoundLine[]; skipped: number }
  | { type: "closed" };
