import type { ManifestKey } from "../../api/manifest.ts";
import type { Traffic } from "../../api/receipt.ts";
import type { ReleaseRecord, Transaction } from "../../store/store.ts";

/** The traffic of a resource between two times (epoch milliseconds); undefined when no ingress leads to it. */
export type TrafficOf = (key: ManifestKey, span: TrafficSpan) => Omit<Traffic, "seconds"> | undefined;

interface TrafficSpan {
  from: number;
  to: number;
  /** Only requests that one of these containers answered; undefined: all. */
  containers?: ReadonlySet<string>;
}

/** Writes the deploy receipts. */
export interface Receipts {
  /** Part of the transaction that ends the release, so that a client that sees its end sees the receipt. */
  record(tx: Transaction, ended: EndedRelease): void;
  /** Adds the traffic after the release, once that time is over. */
  completeLater(ended: EndedRelease): void;
  /** Resolves when nothing is being written any more; receipts that wait for their last span stay as they are. */
  settled(): Promise<void>;
}

export interface EndedRelease extends Pick<ReleaseRecord, "id" | "kind" | "scope" | "name" | "startedAt"> {
  /** Epoch milliseconds. */
  endedAt: number;
}
