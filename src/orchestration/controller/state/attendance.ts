import type { Plugin } from "../../plugins/plugin.ts";

/** A command of a plugin, as far as it matters whether another one runs. */
export interface ExclusiveCall {
  plugin: Plugin;
  command: string;
  args: readonly string[];
}

/** Exclusive commands of plugins, and the command that the server runs for their blocks (`attend` of plugin.yml). */
export interface Attendance {
  /**
   * Runs the work of a call. An exclusive one fails `conflict` while another about the same block is under way; the place
   * is free again when the work has ended, however it ended.
   */
  alone<T>(call: ExclusiveCall, work: () => Promise<T>): Promise<T>;
  /** Looks at every block until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}
