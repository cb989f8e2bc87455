/**
 * Reports what is different; the path is that of the file: `services.web.ports[0]`. A `note` is good to know. Everything
 * else needs a change by hand.
 */
export type Lose = (path: string, message: string, level?: "note") => void;
