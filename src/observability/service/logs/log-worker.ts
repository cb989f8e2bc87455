import type { FromLogThread, ToLogThread } from "./messages.ts";

interface LogThreadEvents {
  onMessage(message: FromLogThread): void;
  /** It ended by itself. */
  onEnd(error: unknown): void;
}

/** A thread that was started: what is said to it, and how to be rid of it at once. */
export interface LogThreadHandle {
  post(message: ToLogThread): void;
  end(): void;
}

export type StartLogThread = (events: LogThreadEvents) => LogThreadHandle;

/** Starts the thread of the logs from its entry point; `url` differs between the sources and the executable. */
export function startLogWorker(url: string): StartLogThread {
  return ({ onMessage, onEnd }) => {
    // It must not keep the process alive that it serves.
    const worker = new Worker(url, { ref: false });
    let ended = false;
    const end = (error: unknown) => {
      if (ended) return;
      ended = true;
      onEnd(error);
    };
    worker.onmessage = ({ data }: MessageEvent<FromLogThread>) => onMessage(data);
    worker.onerror = ({ message }) => end(message);
    worker.addEventListener("close", () => end("the thread is gone"));
    return {
      post: (message) => worker.postMessage(message),
      end() {
        ended = true;
        worker.terminate();
      },
    };
  };
}
