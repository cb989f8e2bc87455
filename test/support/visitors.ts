import { waitFor } from "./wait.ts";

/** What visitors ask for, and how often. */
export interface VisitorsOrder {
  port: number;
  host: string;
  perSecond: number;
  /** WebSockets that are kept open. */
  sockets: number;
}

/** What visitors saw since the last report. */
export interface VisitorsReport {
  requests: number;
  /** What became of requests that were not answered with 200; the first ones. */
  failed: string[];
  /** Of answered requests, from the moment at which each was due. */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** WebSockets that the app closed with a code: their clients know what happened and open another. */
  socketsTold: number;
  /** WebSockets whose connection was cut, or that were not accepted. */
  socketsLost: string[];
}

/** Visitors of a site: requests at a fixed rate, however long the answers take, and WebSockets beside them. */
export interface Visitors {
  report(): Promise<VisitorsReport>;
  /** Ends them. */
  close(): void;
}

export type VisitorsMessage = { order: VisitorsOrder } | { report: number };
export type VisitorsAnswer = { ready: true } | { report: number; seen: VisitorsReport };

/** Visitors are a thread of their own: nothing that the test does delays them. */
export async function visitors(order: VisitorsOrder): Promise<Visitors> {
  const worker = new Worker(new URL("./visitors-worker.ts", import.meta.url).href);
  const reports = new Map<number, VisitorsReport>();
  let isReady = false;
  let fault: string | undefined;
  let asked = 0;
  worker.onmessage = ({ data }: MessageEvent<VisitorsAnswer>) => {
    if ("ready" in data) isReady = true;
    else reports.set(data.report, data.seen);
  };
  worker.onerror = (event) => {
    fault = event.message;
  };
  const answered = async <T>(what: string, probe: () => T | undefined | false) =>
    waitFor(what, () => {
      if (fault !== undefined) return { fault };
      const found = probe();
      return found === undefined || found === false ? undefined : { found };
    }).then((answer) => {
      if ("fault" in answer) throw new Error(`visitors: ${answer.fault}`);
      return answer.found;
    });
  worker.postMessage({ order } satisfies VisitorsMessage);
  await answered("all WebSockets to be open", () => isReady);
  return {
    report() {
      asked += 1;
      const report = asked;
      worker.postMessage({ report } satisfies VisitorsMessage);
      return answered("the visitors' report", () => reports.get(report));
    },
    close: () => worker.terminate(),
  };
}
