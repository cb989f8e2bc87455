import { addDuration, createHistogram, type Histogram, mergeHistogram } from "../../../base/pure/histogram.ts";

/** One request, as the proxy tells it when the answer is out. */
export interface RequestSeen {
  /** Epoch milliseconds of the end of the answer. */
  at: number;
  /** Id of the site: `<scope>/<name>` of the ingress. */
  site: string;
  /** Id of the container that answered; undefined when none did. */
  upstream: string | undefined;
  /** As the client got it; undefined when the client left before there was one. */
  status: number | undefined;
  /** From the first byte of the request to the last one of the answer, in milliseconds, time in a hold included. */
  ms: number;
  /** Body and head, as sent and received on the client's side. */
  bytesIn: number;
  bytesOut: number;
  /** Times that another connection to a replica was tried. */
  retries: number;
  /** Waited for a replica to become ready. */
  wasHeld: boolean;
  /** A replica broke off in the middle of its answer, or the proxy had no replica to ask. */
  isBroken: boolean;
}

/** Sums over many requests. */
export interface Figures {
  requests: number;
  /** Answers of 500 and above, and answers that broke off on our side. Clients that left are not failures. */
  failed: number;
  retried: number;
  held: number;
  bytesIn: number;
  bytesOut: number;
  /** Requests by the first digit of the status; index 0: no status. */
  byClass: [number, number, number, number, number, number];
  latency: Histogram;
}

export function createFigures(): Figures {
  return {
    requests: 0,
    failed: 0,
    retried: 0,
    held: 0,
    bytesIn: 0,
    bytesOut: 0,
    byClass: [0, 0, 0, 0, 0, 0],
    latency: createHistogram(),
  };
}

export function addRequest(figures: Figures, seen: RequestSeen): void {
  figures.requests += 1;
  if (isFailure(seen)) figures.failed += 1;
  if (seen.retries > 0) figures.retried += 1;
  if (seen.wasHeld) figures.held += 1;
  figures.bytesIn += seen.bytesIn;
  figures.bytesOut += seen.bytesOut;
  const digit = classOf(seen.status);
  figures.byClass[digit] += 1;
  addDuration(figures.latency, seen.ms);
}

/** Adds `other` to `figures`. */
export function mergeFigures(figures: Figures, other: Figures): void {
  figures.requests += other.requests;
  figures.failed += other.failed;
  figures.retried += other.retried;
  figures.held += other.held;
  figures.bytesIn += other.bytesIn;
  figures.bytesOut += other.bytesOut;
  for (const digit of classes) figures.byClass[digit] += other.byClass[digit];
  mergeHistogram(figures.latency, other.latency);
}

export function isFailure({ status, isBroken }: Pick<RequestSeen, "status" | "isBroken">): boolean {
  return isBroken || (status !== undefined && status >= 500);
}

type StatusClass = 0 | 1 | 2 | 3 | 4 | 5;

const classes: readonly StatusClass[] = [0, 1, 2, 3, 4, 5];

function classOf(status: number | undefined): StatusClass {
  return classes.find((digit) => digit === Math.floor((status ?? 0) / 100)) ?? 0;
}
