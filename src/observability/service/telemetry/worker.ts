import { getPriority, setPriority } from "node:os";
import { createLog } from "../../../base/words/log.ts";
import { createDecoder } from "./decoder.ts";
import type { ToDecodeThread } from "./messages.ts";

declare const self: Worker;

/** Entry point of the thread of the telemetry: an entry point of the executable too, see build.ts. */
const log = createLog((line) => process.stderr.write(line));
/** Niceness of this thread alone, on Linux: threads that serve go first. */
const niceness = 10;
const nicest = 19;
setPriority(0, Math.min(nicest, getPriority(0) + niceness));

const receive = createDecoder({
  post: (message, moved = []) => self.postMessage(message, moved),
  report: (error) => log.error("telemetry could not be decoded", { error }),
});
self.onmessage = ({ data }: MessageEvent<ToDecodeThread>) => receive(data);
