import { readFile } from "node:fs/promises";
import { emptyWhenLarge } from "./files.ts";

/** How HAProxy is run on this machine: as a child that is let go, as a service of systemd, or as a container. */
export interface Launch {
  /** Runs it to its end with these arguments. Fails where it cannot be run at all. */
  once(args: readonly string[]): Promise<RunEnd>;
  /**
   * Starts the master, which outlives the server. Fails `conflict` where that cannot be. Whether it serves is for the
   * caller to see.
   */
  begin(args: readonly string[]): Promise<Begun>;
  /** The end of what the master and its workers wrote. */
  lastOutput(): Promise<string>;
  /** HAProxy writes a line for each change: what has grown large is emptied. */
  trimOutput(): Promise<void>;
}

export interface RunEnd {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface Begun {
  /** Whether the master has ended already, as far as that is known. */
  hasEnded(): boolean;
  /** It is up: nothing is asked any more. */
  letGo(): void;
  /** Ends a master that does not come up. */
  giveUp(): void | Promise<void>;
}

/** Where a master on the machine itself writes. */
export function outputFile(path: string, bytesMax: number): Pick<Launch, "lastOutput" | "trimOutput"> {
  return {
    lastOutput: () => readFile(path, "utf8").catch(() => ""),
    trimOutput: () => emptyWhenLarge(path, bytesMax),
  };
}
