import type { Principal } from "../../access/principal.ts";
import type { Author } from "../core/deploy-message.ts";
import type { ExecSession, ExecSpec } from "../engine/session.ts";

/** Who asks for a change: for the event log, and for what it may. */
export interface Asker {
  actor: string;
  /** Left out, it may do the least. */
  by?: Principal | undefined;
}

/** Who asks for a rollback and why; a dry run answers where it goes and what changes back, and stores nothing. */
export interface RollbackOptions extends Author, Asker {
  dryRun?: boolean;
  /** Change images of databases without a copy of them before. */
  noBackup?: boolean;
  /** Aborts when the caller has left. */
  left?: AbortSignal;
}

/** An identity as a caller wrote it: kind in any spelling, scope perhaps left out. */
export interface Target {
  kind?: string | undefined;
  scope?: string | undefined;
  name?: string | undefined;
}

export interface ListOptions {
  /** Where no kind is asked for: plugins' blocks too. Without them the list is what can be applied again. */
  blocks: boolean;
  status: boolean;
}

/** What a caller of exec says beside the command. */
export type ExecOptions = Pick<ExecSpec, "tty" | "interactive" | "workdir" | "user" | "size"> & { actor: string };

/** A command that runs in a pod. The code that gets it reads the output to its end and asks for the exit code, or kills it. */
export type RunningExec = ExecSession;

/** A command in a container of its own; `container` is its name. */
export type AppRun = RunningExec & { container: string };

/** Who waits for a command. */
export interface PluginCaller extends Asker {
  /** Aborts when the caller has left. */
  signal?: AbortSignal | undefined;
  /** Told what the plugin says while it works. */
  onLine?: ((line: string) => void) | undefined;
}

export interface DispatchOptions extends PluginCaller {
  /** Let config actions restart who reads them. */
  restart: boolean;
  /** Where a pod asks: what it may name to its plugin, and the run may look at, of the plugin's blocks. */
  only?: readonly { scope: string; name: string }[] | undefined;
}

export interface DispatchRequest {
  /** Name or alias. */
  plugin: string;
  command: string;
  /** `{args}`, or undefined for none. */
  body: unknown;
}

/** What POST /plugins/exec passes on: the plugin's own envelope, or its text. */
export interface ExecAnswer {
  status: number;
  body: unknown;
}
