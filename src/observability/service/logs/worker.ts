import { getPriority, setPriority } from "node:os";
import { systemClock } from "../../../base/words/clock.ts";
import { createLog } from "../../../base/words/log.ts";
import { createLogKeeper, type LogKeeper } from "./keeper.ts";
import type { FromLogThread, ToLogThread } from "./messages.ts";

declare const self: Worker;

/** Entry point of the thread of the logs: an entry point of the executable too, see build.ts. */
const post = (message: FromLogThread) => self.postMessage(message);
/** Niceness of this thread alone, on Linux: threads that serve go first. */
const niceness = 5;
const nicest = 19;
const closing = new AbortController();
let keeper: LogKeeper | undefined;
let running: Promise<void> | undefined;

self.onmessage = ({ data }: MessageEvent<ToLogThread>) => {
  if (data.type === "open") {
    setPriority(0, Math.min(nicest, getPriority(0) + niceness));
    const log = createLog((line) => process.stderr.write(line));
    keeper = createLogKeeper({ setup: data.setup, clock: systemClock, log, post });
    running = keeper.run(closing.signal);
    // What it throws ends the thread, and the server starts another.
    running.catch((error: unknown) => {
      throw error;
    });
  } else if (data.type === "close") {
    closing.abort();
    void Promise.resolve(running).finally(() => post({ type: "closed" }));
  } else keeper?.receive(data);
};
