import { computed, signal } from "@preact/signals";
import { now } from "../browser/clock.ts";
import { agoText } from "../text/times.ts";

/** connecting: nothing came yet; live; lost: the browser tries again by itself; ended: the session is over. */
type Connection = "connecting" | "live" | "lost" | "ended";

/** How what is on the page hangs together with the server. */
export const connection = signal<Connection>("connecting");

/** When the last message came: what is shown is as old as this while the connection is lost. */
export const heardAt = signal<number | undefined>(undefined);

/** The server tells every 5 s that it is there, up to a fifth later. */
const silentMs = 8_000;

/** Why nothing can be changed, and what is shown may be old; undefined while the server is heard. */
export const staleText = computed(() => {
  const isSilent = heardAt.value !== undefined && now.value - heardAt.value > silentMs;
  if (connection.value !== "lost" && !(connection.value === "live" && isSilent)) return undefined;
  return "The server does not answer. Actions wait until it does.";
});

/** How old what is shown is: `as of 12 s ago`. */
export const heardText = computed(() =>
  heardAt.value === undefined ? "" : `as of ${agoText(heardAt.value, now.value)}`,
);
