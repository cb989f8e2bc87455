import { startLoopbackProvider } from "../support/loopback-provider.ts";

declare const self: Worker;

/** A provider in a thread of its own, so that its work is not counted as ours; tells its address. */
const provider = await startLoopbackProvider();
// What it has seen is of no use here, and would only grow.
setInterval(() => {
  provider.seen.length = 0;
}, 100);
self.postMessage(provider.url);
