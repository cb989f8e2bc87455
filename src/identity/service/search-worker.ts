import type { FromSearchThread } from "../store/search/messages.ts";
import type { StartThread } from "./search-thread.ts";

/** Starts the search thread from its entry point; `url` differs between the sources and the executable. */
export function startWorker(url: string): StartThread {
  return ({ onMessage, onEnd }) => {
    // It must not keep the process alive that it serves.
    const worker = new Worker(url, { ref: false });
    let ended = false;
    const end = (error: unknown) => {
      if (ended) return;
      ended = true;
      onEnd(error);
    };
    worker.onmessage = ({ data }: MessageEvent<FromSearchThread>) => onMessage(data);
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
