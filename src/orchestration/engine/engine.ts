import type { ManifestKey } from "../api/manifest.ts";
import type { ContainerSpec } from "../core/workload.ts";
import type { Duplex } from "../../base/words/duplex.ts";
import type { FileStat, FolderAccess, WrittenFiles } from "./session.ts";
import type { Machine } from "./machine.ts";
import type { ContainerEnd, InspectedPod, ObservedPod, PodEvent, PodRef, PodUsage, TcpServed } from "./pod.ts";
import type { AttachOptions, Checked, ExecSession, ExecSpec, LogOptions } from "./session.ts";

/**
 * The engine seam: what the controller may ask of whatever runs the pods. Pods are addressed by reference, and say
 * themselves whose they are. Every operation is one step, because the controller has to find its way from each point
 * where a server may be killed ([why](../../../docs/decisions/0020-engine-seam.md)).
 *
 * This is all that a driver has to be. `docker/` is one, and `memory-runtime.ts` of the tests; both pass one contract suite.
 *
 * Every call has a deadline of its own and fails with a `Failure`: code `unavailable` with reason `EngineUnavailable`
 * when the engine cannot be reached, `timeout` past the deadline, `not_found` for a missing object, `conflict` with
 * reasons such as `NameTaken`, `PortTaken`, `MountMissing`, `ImagePull`, `ImageMissing`, `RegistryAuth`,
 * `StartFailed` where the engine refuses, `anew` where only another container can start. Messages name the thing and carry
 * the engine's own words.
 */
export interface Engine extends Machine {
  /** The pods that carry this installation's label, in every state. Given a key, only those of that resource. */
  observe(filter?: Partial<ManifestKey>): Promise<ObservedPod[]>;
  /** Any container, ours or not; undefined when missing. */
  inspect(pod: PodRef): Promise<InspectedPod | undefined>;
  /** Refers to whichever container has the name. Nothing is asked: calls on it fail `not_found` where there is none. */
  named(name: string): PodRef;

  /**
   * Creates without starting; joins all networks. Volumes that are empty get the owner that their mount names.
   * `conflict`/`NameTaken` when the name is in use.
   */
  create(spec: ContainerSpec): Promise<PodRef>;
  /** Idempotent: starting a running pod is fine. */
  start(pod: PodRef): Promise<void>;
  /** Idempotent. SIGTERM (or the pod's stop signal), SIGKILL after `graceMs`. */
  stop(pod: PodRef, options: { graceMs: number }): Promise<void>;
  /** Holds all of its processes still. Idempotent; false where it does not run. */
  pause(pod: PodRef): Promise<boolean>;
  /** Lets a paused pod go on. Idempotent: a pod that is not paused, and a missing one, are fine. */
  unpause(pod: PodRef): Promise<void>;
  /** Forced removal, anonymous volumes included; a missing pod is fine. */
  remove(pod: PodRef): Promise<void>;
  /**
   * As `remove`, but a pod that runs, or is being started for an earlier request, is left alone: false. The engine decides,
   * so that nothing is cut off between a look and the removal.
   */
  removeUnlessRunning(pod: PodRef): Promise<boolean>;
  rename(pod: PodRef, name: string): Promise<void>;

  /**
   * Pod events of this installation from now on, until `signal` aborts (ends normally) or the stream breaks (throws
   * `unavailable`). `onOpen` is called once events can no longer be missed. They are hints: nothing depends on one.
   */
  events(signal: AbortSignal, onOpen: () => void): AsyncIterable<PodEvent>;

  /**
   * Starts a command inside a running pod. Fails `not_found` for a missing pod, `conflict` for one that does not run or
   * a user, workdir or program that it does not have.
   */
  exec(pod: PodRef, spec: ExecSpec): Promise<ExecSession>;
  /**
   * Runs a short command in a running pod, as probes do again and again, and resolves when it has ended. It may run below a
   * shell that stays in the pod. Fails as `exec` does; when `signal` aborts, the command is ended and this rejects.
   */
  check(pod: PodRef, command: string[], signal: AbortSignal): Promise<Checked>;
  /**
   * Starts a pod that was created with `attach`, and connects to its main process as `exec` does to a command:
   * `exitCode` is the pod's own, `kill` stops the pod. Nothing removes it.
   */
  startAttached(pod: PodRef, options: AttachOptions): Promise<ExecSession>;
  /** Output, stdout and stderr in order of arrival, unframed, also of pods with a terminal. Nothing is read ahead of the consumer beyond a small buffer. */
  logs(pod: PodRef, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Resolves when the pod does not run any more, nor will again by its restart policy; rejects when `signal` aborts. A
   * missing one is `not_found`, one that was never started `conflict`. While the engine is away it goes on waiting.
   */
  wait(pod: PodRef, signal: AbortSignal): Promise<ContainerEnd>;
  /** One reading of every running pod of this installation. */
  usage(): Promise<PodUsage[]>;
  /**
   * Path of the file that the output of a pod is written to, in the format json-file, also where there is none yet. Undefined
   * where the engine does not say where its files are.
   */
  logFile(pod: PodRef): Promise<string | undefined>;
  /** Whether the oldest output is gone, because the log files were full; undefined when that cannot be seen. */
  logDropped(pod: PodRef): Promise<boolean | undefined>;
  /**
   * TCP in the network of a running pod: what listens there, and how many connections to listening ports are open.
   * Undefined when that cannot be seen from here, or the pod shares the machine's network.
   */
  connections(pod: PodRef): Promise<TcpServed | undefined>;
  /**
   * Connects to a TCP port of a running pod. Fails `not_found` for a missing pod, `conflict` for one that does not run,
   * has no address, or does not listen there, `timeout` without an answer.
   */
  dial(pod: PodRef, port: number, options: { highBytes: number; limitMs: number }): Promise<Duplex>;

  /** A file, folder or link; undefined where there is none, and for a container that is missing. Links on the way are followed, the last part is not. */
  statFile(pod: PodRef, path: string): Promise<FileStat | undefined>;
  /**
   * A tar archive of a file or folder and what is in it, under its last name; links are listed and not followed. Throws
   * when it breaks off. The pod need not run.
   */
  readFiles(pod: PodRef, path: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Unpacks a tar archive in a folder; the user of the pod becomes the owner. Resolves when all of it is there. Fails
   * `conflict` for a folder that is missing or cannot be written, and what the archive holds otherwise.
   */
  writeFiles(pod: PodRef, files: WrittenFiles): Promise<void>;
  /**
   * Who the program of a pod is, and whose a folder in it is; undefined for a pod that is missing, and for what
   * is not a folder. The pod need not run.
   */
  folderAccess(pod: PodRef, path: string): Promise<FolderAccess | undefined>;
}
