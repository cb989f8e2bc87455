import type { AccessLine } from "../access-line.ts";
import type { Place } from "./attribution.ts";
import type { RequestSeen } from "./figures.ts";

const switchingProtocols = 101;

/** The request of a line, as the figures count it. */
export function requestSeen(line: AccessLine, { site, answeredBy }: Place): RequestSeen {
  const ms = durationOf(line);
  return {
    at: line.at + ms,
    site,
    upstream: answeredBy?.upstream,
    status: line.status,
    ms,
    bytesIn: line.bytesIn,
    bytesOut: line.bytesOut,
    retries: line.retries,
    wasHeld: line.heldMs > 0,
    isBroken: line.status !== switchingProtocols && brokenOff.test(line.ended),
  };
}

/**
 * Ended by anything but the client, while the answer was on its way (D: data, L: the last of it). What ends before has
 * a status of 500 or above. See "Session state at disconnection" in HAProxy's manual.
 */
const brokenOff = /^[SsPRIDUK][DL]$/;

/** A WebSocket took until it was open; how long it stayed open says nothing about the app. */
function durationOf(line: AccessLine): number {
  if (line.status !== switchingProtocols) return line.totalMs ?? 0;
  return line.heldMs + (line.queueMs ?? 0) + (line.connectMs ?? 0) + (line.responseMs ?? 0);
}
