import type { GuardedFetch } from "../../../base/deliver/guarded-fetch.ts";
import type { PutObject } from "../../../base/deliver/object-storage.ts";
import type { SendStream } from "../../../base/deliver/stream-socket.ts";

interface DrainLimits {
  drainsMax: number;
  /** How often it is looked for new lines; objects are made more rarely, because each has a price. */
  lookMs: number;
  objectMs: number;
  /** Lines that are younger may still get older neighbours, from another pod. */
  lagMs: number;
  linesMax: number;
  batchBytes: number;
  objectBytes: number;
  sendMs: number;
  retryMs: number;
  retryMaxMs: number;
  /** Longest wait that another side may ask for. */
  retryAfterMaxMs: number;
  /** A side that took something this short a while ago refuses lines for what they are. */
  provenMs: number;
}

/** The ways out of this machine. */
export interface DrainOutside {
  limits: DrainLimits;
  hostname: string;
  post: GuardedFetch;
  stream: SendStream;
  put: PutObject;
}
