import { getPriority, setPriority } from "node:os";
import type { FromSearchThread, SearchSetup, ToSearchThread } from "./messages.ts";
import { type SearchThread, startSearchThread } from "./thread.ts";

declare const self: Worker;

/** Entry point of the search thread: an entry point of the executable too, see build.ts. */
const post = (message: FromSearchThread) => self.postMessage(message);
/** Niceness of this thread alone, on Linux: where processors are few, the thread that signs people in goes first. */
const niceness = 10;
const nicest = 19;
let setup: SearchSetup | undefined;
let thread: SearchThread | undefined;

self.onmessage = ({ data }: MessageEvent<ToSearchThread>) => {
  try {
    receive(data);
  } catch (error) {
    post({ type: "failed", id: data.type === "search" ? data.id : undefined, text: String(error) });
  }
};

function receive(message: ToSearchThread): void {
  switch (message.type) {
    case "open":
      setPriority(0, Math.min(nicest, getPriority(0) + niceness));
      setup = message.setup;
      opened();
      return;
    case "search":
      opened().search(message.id, message.request);
      return;
    case "cancel":
      thread?.cancel(message.id);
      return;
    case "close":
      thread?.close();
      thread = undefined;
      post({ type: "closed" });
      return;
  }
}

/** What could not be opened is tried again with the next search. */
function opened(): SearchThread {
  if (setup === undefined) throw new Error("the search thread was not told what to open");
  thread ??= startSearchThread(setup, post);
  return thread;
}
