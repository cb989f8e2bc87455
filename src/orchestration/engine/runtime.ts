import type { ContainerSpec } from "../core/workload.ts";
import type { Container, ContainerDetail, ContainerEnd, TcpServed, Usage } from "./container.ts";
import type { FileStat, FolderAccess, WrittenFiles } from "./session.ts";
import type { Machine } from "./machine.ts";
import type { AttachOptions, Checked, ExecSession, ExecSpec, LogOptions } from "./session.ts";

/**
 * The container boundary. Two implementations pass one contract suite: `docker/`, and `memory-runtime.ts` of the tests.
 *
 * Every call has a deadline of its own and fails with a `Failure`: code `unavailable` with reason `EngineUnavailable`
 * when the engine cannot be reached, `timeout` past the deadline, `not_found` for a missing object, `conflict` with
 * reasons such as `NameTaken`, `PortTaken`, `MountMissing`, `ImagePull`, `ImageMissing`, `RegistryAuth`,
 * `StartFailed` where the engine refuses, `anew` where only another container can start. Messages name the thing and carry the engine's own words.
 */
export interface Runtime extends Machine {
  /** Containers carrying this installation's label, in every state. Given a key, only those of that resource. */
  list(filter?: { kind?: string; scope?: string; name?: string }): Promise<Container[]>;
  /** Any container by name or id, ours or not; undefined when missing. */
  inspect(nameOrId: string): Promise<ContainerDetail | undefined>;
  /**
   * Creates without starting; joins all networks. Volumes that are empty get the owner that their mount names. Returns
   * the engine's id. `conflict`/`NameTaken` when the name is in use.
   */
  create(spec: ContainerSpec): Promise<string>;
  /** Idempotent: starting a running container is fine. */
  start(nameOrId: string): Promise<void>;
  /** Idempotent. SIGTERM (or the container's stop signal), SIGKILL after `graceMs`. */
  stop(nameOrId: string, options: { graceMs: number }): Promise<void>;
  /** Forced removal, anonymous volumes included; a missing container is fine. */
  remove(nameOrId: string): Promise<void>;
  /**
   * As `remove`, but a container that runs, or is being started for an earlier request, is left alone: false.
   * The engine decides, so that nothing is cut off between a look and the removal.
   */
  removeUnlessRunning(nameOrId: string): Promise<boolean>;
  rename(nameOrId: string, name: string): Promise<void>;

  /** Removes a network of ours; missing is fine. */
  removeNetwork(name: string): Promise<void>;

  /**
   * Container events of this installation from now on, until `signal` aborts (ends normally) or the stream breaks
   * (throws `unavailable`). `onOpen` is called once events can no longer be missed.
   */
  events(signal: AbortSignal, onOpen: () => void): AsyncIterable<RuntimeEvent>;

  /**
   * Starts a command inside a running container. Fails `not_found` for a missing container, `conflict` for one that
   * does not run or a user, workdir or program that it does not have.
   */
  exec(nameOrId: string, spec: ExecSpec): Promise<ExecSession>;
  /**
   * Runs a short command in a running container, as probes do again and again, and resolves when it has ended. It may run below a
   * shell that stays in the container. Fails as `exec` does; when `signal` aborts, the command is ended and this rejects.
   */
  check(nameOrId: string, command: string[], signal: AbortSignal): Promise<Checked>;
  /**
   * Starts a container that was created with `attach`, and connects to its main process as `exec` does to a command:
   * `exitCode` is the container's own, `kill` stops the container. Nothing removes it.
   */
  startAttached(nameOrId: string, options: AttachOptions): Promise<ExecSession>;
  /** Output of a container, stdout and stderr in order of arrival, unframed, also of tty containers. Nothing is read ahead of the consumer beyond a small buffer. */
  logs(nameOrId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Whether the oldest output of a container that was started once is gone, because its log files were full. Undefined when
   * that cannot be seen from here.
   */
  logDropped(nameOrId: string): Promise<boolean | undefined>;
  /**
   * Resolves when the container does not run any more, nor will again by its restart policy; rejects when `signal`
   * aborts. A missing one is `not_found`, one that was never started `conflict`. While the engine is away it goes on
   * waiting.
   */
  wait(nameOrId: string, signal: AbortSignal): Promise<ContainerEnd>;
  /** One reading of every running container of this installation. */
  usage(): Promise<Usage[]>;

  /**
   * TCP in the network of a running container: what listens there, and how many connections to listening ports are
   * open. Undefined when that cannot be seen from here, or the container shares the machine's network.
   */
  connections(nameOrId: string): Promise<TcpServed | undefined>;

  /** A file, folder or link; undefined where there is none, and for a container that is missing. Links on the way are followed, the last part is not. */
  statFile(nameOrId: string, path: string): Promise<FileStat | undefined>;
  /**
   * A tar archive of a file or folder and what is in it, under its last name; links are listed and not followed. Throws
   * when it breaks off. The container need not run.
   */
  readFiles(nameOrId: string, path: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Unpacks a tar archive in a folder; the user of the container becomes the owner. Resolves when all of it is there. Fails
   * `conflict` for a folder that is missing or cannot be written, and what the archive holds otherwise.
   */
  writeFiles(nameOrId: string, files: WrittenFiles): Promise<void>;
  /**
   * Who the program of a container is, and whose a folder in it is; undefined for a container that is missing, and for what
   * is not a folder. The container need not run.
   */
  folderAccess(nameOrId: string, path: string): Promise<FolderAccess | undefined>;
}

/** `action` as the engine names it: create, start, die, stop, kill, oom, destroy, rename, pause, unpause, health_status… */
export interface RuntimeEvent {
  action: string;
  id: string;
  name: string;
  labels: Record<string, string>;
  exitCode: number | undefined;
  /** Epoch milliseconds, the engine's clock. */
  at: number;
}
