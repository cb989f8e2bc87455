/** A thread that was started: what is said to it, and how to be rid of it. */
export interface ThreadHandle<To> {
  /** `moved`: bytes of the message that are not copied; they are gone here afterwards. */
  post(message: To, moved?: ArrayBuffer[]): void;
  /** At once, whatever it is doing. */
  end(): void;
}

export interface ThreadEvents<From> {
  onMessage(message: From): void;
  /** It ended by itself. */
  onEnd(error: unknown): void;
}

export type StartThread<To, From> = (events: ThreadEvents<From>) => ThreadHandle<To>;

/** Starts a thread from its entry point; `url` differs between the sources and the executable. */
export function startThread<To, From>(url: string): StartThread<To, From> {
  return ({ onMessage, onEnd }) => {
    // It must not keep the process alive that it serves.
    const worker = new Worker(url, { ref: false });
    let ended = false;
    const end = (error: unknown) => {
      if (ended) return;
      ended = true;
      onEnd(error);
    };
    worker.onmessage = ({ data }: MessageEvent<From>) => onMessage(data);
    worker.onerror = ({ message }) => end(message);
    worker.addEventListener("close", () => end("the thread is gone"));
    return {
      post: (message, moved = []) => worker.postMessage(message, moved),
      end() {
        ended = true;
        worker.terminate();
      },
    };
  };
}
