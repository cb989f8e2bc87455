import type { PodRef } from "./pod.ts";

/** A program that the server itself needs, from an image: it has the machine's network, processes and folders. */
export interface HelperProgram {
  /** What it does, in one word: the end of the container's name. */
  role: string;
  image: string;
  /** Path or name of the program in the image. */
  entrypoint: string;
  /** `uid:gid` */
  user: string;
  /** Folders of the machine, which it finds at the same paths. */
  folders: readonly { path: string; readOnly: boolean }[];
  capabilities: readonly string[];
  /** Files that it may have open. */
  filesMax: number;
  /** Until a run to the end is given up. */
  limitMs: number;
}

export interface HelperRun {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/**
 * The container of such a program. No resource has it: it carries the installation's label and no identity, so that
 * nothing converges it. It lives on when the server ends, and nothing but the server starts it again.
 */
export interface Helper {
  /** Runs the program to its end with other arguments: beside the one that runs, else in a container of its own. */
  once(args: readonly string[]): Promise<HelperRun>;
  /** Starts it, in place of one that is about to end. Fails `conflict`/`NameTaken` when another program has the name. */
  start(args: readonly string[]): Promise<PodRef>;
  /** Resolves when it does not run any more; rejects when `signal` aborts. */
  ended(pod: PodRef, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** Last lines of its output. */
  output(): Promise<string>;
}
