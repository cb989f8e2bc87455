import type { DrainOutside } from "./drains/parts.ts";
import type { LogPlatform } from "./logs/create.ts";
import type { Client } from "../../base/wire/client.ts";
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

/** How the plane asks the platform, in process: through the contract, and for the rest through these functions. */
export interface Platform {
  /**
   * A client of the orchestration plane; `actor` is on record for what it does: `pat:<id>` for a token, `person:<address>` for a
   * person, a word of its own for what the plane does by itself. Its calls fail with `ApiError`, which the plane answers as it came.
   */
  as(actor: string): Client;
  /** Deployments and statefulsets with their replicas, from memory. */
  apps: AppWatch;
  podLogs: ReadPodLogs;
  /** The next times of the spec of a cron job, in epoch milliseconds, soonest first; none while it is suspended. */
  upcoming(spec: Record<string, unknown>, at: { now: number; max: number }): number[];
  /** The output of pods; without it the plane keeps none. */
  logs?: LogPlatform;
  /** The ways by which lines leave the machine. */
  drains?: DrainOutside;
}
