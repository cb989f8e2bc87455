import type { DrainOutside } from "./drains/parts.ts";
import type { RouteOutside } from "./plugins/route-outside.ts";
import type { StartDecodeThread } from "./telemetry/decode-thread.ts";
import type { TracePlatform } from "./traces/create.ts";
import type { ServerReport } from "../api/disk.ts";
import type { Grant } from "../core/tokens/grant.ts";
import type { LogPlatform } from "./logs/create.ts";
import type { Client } from "../../base/wire/client.ts";
import type { FileInfo } from "../../orchestration/api/files.ts";
import type { AppWatch } from "../../orchestration/api/app-facts.ts";

/** Which part of a log is read. */
export interface LogReading {
  follow: boolean;
  /** Last lines; undefined for all, 0 for none. */
  tail: number | undefined;
  /** Epoch milliseconds. */
  since: number | undefined;
  timestamps: boolean;
  signal: AbortSignal;
}

/** Bytes as a container wrote them. Fails `not_found` and `unavailable` before the first byte. */
export type ReadPodLogs = (name: string, reading: LogReading) => Promise<AsyncIterable<Uint8Array>>;

/** A command that runs in a container, or in one of its own. */
export interface PodSession {
  /** Pulled: a slow reader slows the command. With a terminal everything is `stdout`. */
  output: AsyncIterable<{ stream: "stdout" | "stderr"; bytes: Uint8Array }>;
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** Once the output has ended. */
  exitCode(): Promise<number>;
  /** Ends the command with everything below it. Safe at any time. */
  kill(): Promise<void>;
}

export interface PodCommand {
  command: string[];
  tty: boolean;
  workdir?: string | undefined;
  user?: string | undefined;
  size?: { cols: number; rows: number } | undefined;
  actor: string;
}

/** The inside of containers, by their names. Fails `not_found`, `conflict` and `unavailable` as the platform does. */
export interface PodInside {
  exec(pod: string, command: PodCommand): Promise<PodSession>;
  /** In a container of its own; `container` is its name. */
  run(app: PodApp, command: PodCommand): Promise<PodSession & { container: string }>;
  /** A command of the plane itself, as root: it is not among the events of the app. */
  look(pod: string, command: string[]): Promise<PodSession>;
  stat(pod: string, path: string): Promise<FileInfo>;
  /** A tar archive of one path. */
  read(pod: string, path: string, by: { actor: string; signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  /** What is written is a tar archive for the folder; the exit code comes when all of it is there. */
  write(pod: string, folder: string, by: { actor: string }): Promise<PodSession>;
}

/** Which app a command runs beside. */
export interface PodApp {
  kind: string | undefined;
  scope: string;
  name: string;
  ordinal: string | undefined;
}

/** How the plane asks the platform, in process: through endpoints of the orchestration API, and for the rest through these functions. */
export interface Platform {
  /**
   * A client of the orchestration plane; `actor` is on record for what it does: `pat:<id>` for a token, `person:<address>` for a
   * person, a word of its own for what the plane does by itself. `grant` decides what the call may change; without it that is the least. Its calls fail with `ApiError`, which the plane answers as it came.
   */
  as(actor: string, grant?: Grant): Client;
  /** Deployments and statefulsets with their replicas, from memory. */
  apps: AppWatch;
  podLogs: ReadPodLogs;
  inside: PodInside;
  /** The next times of the spec of a cron job, in epoch milliseconds, soonest first; none while it is suspended. */
  upcoming(spec: Record<string, unknown>, at: { now: number; max: number }): number[];
  /** What the server was started with, without secrets. */
  settings?: ServerReport["settings"];
  /** The output of pods; without it the plane keeps none. */
  logs?: LogPlatform;
  /** Where traces of apps are kept; without it the plane keeps none. */
  traces?: TracePlatform;
  /** The thread that decodes what apps send; without it the plane takes no telemetry. */
  decoding?: StartDecodeThread;
  /** The ways by which lines leave the machine. */
  drains?: DrainOutside;
  /** The containers of plugins; without it no plugin has routes of its own. */
  routes?: RouteOutside;
}
