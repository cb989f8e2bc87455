import { systemClock } from "../../src/base/words/clock.ts";
import { createGate } from "../../src/base/deliver/gate.ts";

/** The gate of a server that holds nothing back. */
export const openGate = createGate({ heldBy: () => undefined, clock: systemClock, lookMs: 1_000 });
