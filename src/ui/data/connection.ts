import { signal } from "@preact/signals";

/** connecting: nothing came yet; live; lost: the browser tries again by itself; ended: the session is over. */
type Connection = "connecting" | "live" | "lost" | "ended";

/** How what is on the page hangs together with the server. */
export const connection = signal<Connection>("connecting");

/** When the last message came: what is shown is as old as this while the connection is lost. */
export const heardAt = signal<number | undefined>(undefined);
