/** Longest line that is kept, from a container or sent by an app; the rest of it is cut off. */
export const lineCharactersMax = 256 * 1024;

/** In the order of their weight. `none`: the line says no level. */
export const levels = ["none", "trace", "debug", "info", "warn", "error", "fatal"] as const;
export type Level = (typeof levels)[number];

/** `berth`: a note of the server itself about the log, such as lines that it left out. `otlp`: sent by the app. */
export const logStreams = ["stdout", "stderr", "berth", "otlp"] as const;
export type LogStream = (typeof logStreams)[number];

export interface LogApp {
  scope: string;
  name: string;
}

/** Who wrote a line. */
export interface LogSource {
  /** Id of the container, or a name of the sender for lines that came another way. */
  id: string;
  /** Name of the container. */
  pod: string;
  replica: string;
  release: string;
  /** `init`, `release`, `job` or `run`; empty for a replica. */
  role: string;
}

/** A line as it comes in. */
export interface NewLine {
  /** Epoch milliseconds. */
  at: number;
  source: LogSource;
  stream: LogStream;
  level: Level;
  /** Without a line break. */
  text: string;
}

/** A line as a search finds it. */
export interface FoundLine extends NewLine {
  app: LogApp;
}

export function appKey({ scope, name }: LogApp): string {
  return `${scope}/${name}`;
}

/**
 * The order of all lines: by time, then by app and container. Lines of one container with the same time are equal here:
 * they stay in the order in which they came.
 */
export function compareLines(a: FoundLine, b: FoundLine): number {
  if (a.at !== b.at) return a.at - b.at;
  return compareTexts(appKey(a.app), appKey(b.app)) || compareTexts(a.source.id, b.source.id);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
