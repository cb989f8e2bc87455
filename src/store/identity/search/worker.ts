import type { FromSearchThread, ToSearchThread } from "./messages.ts";
import { type SearchThread, startSearchThread } from "./thread.ts";

declare const self: Worker;

/** Entry point of the search thread: an entry point of the executable too, see build.ts. */
const post = (message: FromSearchThread) => self.postMessage(message);
let thread: SearchThread | undefined;

self.onmessage = ({ data }: MessageEvent<ToSearchThread>) => {
  try {
    receive(data);
  } catch (error) {
    post({ type: "failed", id: undefined, text: String(error) });
  }
};

function receive(message: ToSearchThread): void {
  switch (message.type) {
    case "open":
      thread = startSearchThread(message.setup, post);
      return;
    case "search":
      thread?.search(message.id, message.request);
      return;
    case "cancel":
      thread?.cancel(message.id);
      return;
    case "close":
      thread?.close();
      post({ type: "closed" });
      return;
  }
}
