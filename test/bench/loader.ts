import type { LoadFound, LoadOrder } from "./load.ts";

/** A worker that makes load. A load whose answers are not all 200 fails. */
export interface Loader {
  perSecond(order: LoadOrder): Promise<number>;
  stop(): void;
}

export function startLoader(): Loader {
  const worker = new Worker(new URL("./load.ts", import.meta.url).href);
  return {
    perSecond: (order) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }: MessageEvent<LoadFound>) => {
          if ("problem" in data) reject(new Error(`load on port ${order.port}: ${data.problem}`));
          else resolve(data.perSecond);
        };
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(order);
      }),
    stop: () => worker.terminate(),
  };
}
