import type { ContainerSpec, PortBinding } from "../core/workload.ts";

/**
 * The container boundary. Two implementations pass one contract suite: `docker/`, and `memory-runtime.ts` of the tests.
 *
 * Every call has a deadline of its own and fails with a `Failure`: code `unavailable` with reason `EngineUnavailable`
 * when the engine cannot be reached, `timeout` past the deadline, `not_found` for a missing object, `conflict` with
 * reasons such as `NameTaken`, `PortTaken`, `MountMissing`, `ImagePull`, `ImageMissing`, `RegistryAuth`,
 * `StartFailed` where the engine refuses. Messages name the thing and carry the engine's own words.
 */
export interface Runtime {
  /** Facts about the engine; also the ping. */
  info(): Promise<EngineInfo>;

  /** Containers carrying this installation's label, in every state. Given a key, only those of that resource. */
  list(filter?: { kind?: string; scope?: string; name?: string }): Promise<Container[]>;
  /** Any container by name or id, ours or not; undefined when missing. */
  inspect(nameOrId: string): Promise<ContainerDetail | undefined>;
  /** Creates without starting; joins all networks. Returns the engine's id. `conflict`/`NameTaken` when the name is in use. */
  create(spec: ContainerSpec): Promise<string>;
  /** Idempotent: starting a running container is fine. */
  start(nameOrId: string): Promise<void>;
  /** Idempotent. SIGTERM (or the container's stop signal), SIGKILL after `graceMs`. */
  stop(nameOrId: string, options: { graceMs: number }): Promise<void>;
  /** Forced removal, anonymous volumes included; a missing container is fine. */
  remove(nameOrId: string): Promise<void>;
  /**
   * As `remove`, but a container that runs, or is being started by whoever asked for it before, is left alone: false.
   * The engine decides, so that nothing is cut off between a look and the removal.
   */
  removeUnlessRunning(nameOrId: string): Promise<boolean>;
  rename(nameOrId: string, name: string): Promise<void>;

  /** Makes the bridge network when missing; idempotent. */
  ensureNetwork(name: string): Promise<void>;
  hasNetwork(name: string): Promise<boolean>;
  /** IPv4 address of this machine in a bridge network; undefined when it is missing or has none. */
  networkGateway(name: string): Promise<string | undefined>;
  /** Removes a network of ours; missing is fine. */
  removeNetwork(name: string): Promise<void>;

  /** Makes a named volume when missing. `created` says whether it did. Fails `conflict`/`VolumeForeign` when one exists whose labels name another owner. */
  ensureVolume(name: string, labels: Record<string, string>): Promise<{ created: boolean }>;
  /** Volumes that carry all given labels. */
  listVolumes(labels: Record<string, string>): Promise<Volume[]>;
  inspectVolume(name: string): Promise<Volume | undefined>;
  /** Missing is fine; `conflict` while in use. */
  removeVolume(name: string): Promise<void>;

  /** Undefined when not on the machine. */
  inspectImage(refOrId: string): Promise<Image | undefined>;
  /** Pulls and returns what came. */
  pull(ref: string, auth: RegistryAuth | undefined): Promise<Image>;
  listImages(): Promise<Image[]>;
  /** Missing is fine; `conflict` while in use. */
  removeImage(refOrId: string): Promise<void>;

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
   * Starts a container that was created with `attach`, and connects to its main process as `exec` does to a command:
   * `exitCode` is the container's own, `kill` stops the container. Nothing removes it.
   */
  startAttached(nameOrId: string, options: AttachOptions): Promise<ExecSession>;
  /** Output of a container, stdout and stderr in order of arrival, unframed, also of tty containers. Nothing is read ahead of the consumer beyond a small buffer. */
  logs(nameOrId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Resolves when the container does not run any more, nor will again by its restart policy; rejects when `signal`
   * aborts. A missing one is `not_found`, one that was never started `conflict`. While the engine is away it goes on
   * waiting.
   */
  wait(nameOrId: string, signal: AbortSignal): Promise<ContainerEnd>;
  /** One reading of every running container of this installation. */
  usage(): Promise<Usage[]>;

  /**
   * TCP in the network of a running container: whether anything listens, and how many connections to listening ports
   * are open. Undefined when that cannot be seen from here, or the container shares the machine's network.
   */
  connections(nameOrId: string): Promise<{ listening: boolean; established: number } | undefined>;

  /**
   * Who holds any of these fixed host ports: running containers that publish them, ours or not, and other programs of
   * the machine where those can be seen from here.
   */
  portHolders(bindings: readonly PortBinding[]): Promise<PortHolder[]>;

  /** Free bytes where the engine keeps its images; undefined when that cannot be seen from here. */
  freeBytes(): Promise<number | undefined>;

  close(): void;
}

export interface PortHolder {
  /** The one that was asked about. */
  binding: PortBinding;
  /** For people: `container "web"` or `process 812 (nginx)`. */
  holder: string;
  /** Id of the container; undefined for any other program. */
  container: string | undefined;
}

export interface ExecSpec {
  command: string[];
  /** `KEY=VALUE` */
  env: string[];
  tty: boolean;
  /** Without it the process has no stdin. */
  interactive: boolean;
  workdir?: string;
  user?: string;
  /** Of the terminal, from the start where the engine can, right after it elsewhere. */
  size?: TerminalSize;
}

export interface AttachOptions {
  /** As the container was created. */
  tty: boolean;
  interactive: boolean;
  size?: TerminalSize;
  /** Between the stop signal and the end, when the session is killed. */
  graceMs: number;
}

export interface TerminalSize {
  cols: number;
  rows: number;
}

/** A command that runs in a container. */
export interface ExecSession {
  /** The engine's id of the exec. */
  id: string;
  /** Until the process has closed its output. With a tty everything is `stdout`. Pulled: a slow consumer slows the process. */
  output: AsyncIterable<{ stream: "stdout" | "stderr"; bytes: Uint8Array }>;
  /** Resolves when the engine has taken the bytes; `conflict` once the command has ended. In order of the calls. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes stdin (half-close); output goes on. */
  endInput(): void;
  resize(size: TerminalSize): Promise<void>;
  /** The exit code, once the output has ended: someone has to read it. */
  exitCode(): Promise<number>;
  /**
   * Ends the process in the container with everything below it (SIGHUP, SIGKILL after 5 s) and the connection; resolves
   * when that is done. Safe at any time: what a command that has ended left in the background stays.
   */
  kill(): Promise<void>;
}

export interface LogOptions {
  follow: boolean;
  /** Last lines; undefined for all, 0 for none. */
  tail: number | undefined;
  /** Epoch milliseconds. */
  since: number | undefined;
  timestamps: boolean;
}

/** Counters of one container, read from its cgroup. */
export interface Usage {
  id: string;
  name: string;
  labels: Record<string, string>;
  /** CPU time since the start, in nanoseconds. */
  cpuNanos: number;
  memoryBytes: number;
  /** The container's limit, or the machine's memory without one. */
  memoryLimitBytes: number;
  pids: number;
  /** Epoch milliseconds of the reading. */
  at: number;
}

export interface EngineInfo {
  version: string;
  apiVersion: string;
  cgroupVersion: 1 | 2;
  liveRestore: boolean;
  rootDir: string;
  operatingSystem: string;
  architecture: string;
  /** Processors of its machine; undefined where it does not say. */
  cpus: number | undefined;
}

/** `unknown`: the engine did not say. */
export type ContainerState =
  "created" | "running" | "restarting" | "paused" | "exited" | "removing" | "dead" | "unknown";

/** One row of a listing. Times are epoch milliseconds. */
export interface Container {
  id: string;
  /** Without the leading slash. */
  name: string;
  /** Reference as given at creation. */
  image: string;
  imageId: string;
  state: ContainerState;
  /** The engine's own text: "Up 2 hours". */
  status: string;
  createdAt: number;
  labels: Record<string, string>;
  /** Names of the networks it is connected to, or will be when it starts. */
  joined: string[];
  /** IPv4 address by network name; without the networks where it has none, as all are while it does not run. */
  addresses: Record<string, string>;
}

export interface ContainerDetail extends Container {
  startedAt: number | undefined;
  finishedAt: number | undefined;
  exitCode: number | undefined;
  oomKilled: boolean;
  /** Text of the last failed start. */
  error: string;
  restartCount: number;
  /** Host pid of the main process while it runs. */
  pid: number | undefined;
  command: string[];
  entrypoint: string[];
  workingDir: string;
  env: Record<string, string>;
  /** By network name; the address is empty while it does not run. */
  networks: Record<string, { networkId: string; ipAddress: string; gateway: string; aliases: string[] }>;
  /** `hostPath`: where it lies on the machine of the engine, as far as that tells. */
  mounts: { type: string; source: string; destination: string; mode: string; rw: boolean; hostPath?: string }[];
  ports: { container: string; hostIp: string; hostPort: string }[];
  restartPolicy: string;
  /** Between stop signal and kill, as it was made with; the engine's default where nothing was said. */
  stopGraceMs: number;
  nanoCpus: number | undefined;
  memoryBytes: number | undefined;
  tty: boolean;
}

/** How a container ended. */
export interface ContainerEnd {
  exitCode: number;
  oomKilled: boolean;
  error: string;
  /** Epoch milliseconds, the engine's clock. */
  finishedAt: number | undefined;
}

export interface Volume {
  name: string;
  labels: Record<string, string>;
}

export interface Image {
  id: string;
  tags: string[];
  /** `repository@sha256:…` */
  digests: string[];
  sizeBytes: number;
  createdAt: number;
  /** Env of the image's own configuration; empty in listings. */
  env: Record<string, string>;
}

export interface RegistryAuth {
  username: string;
  password: string;
  serverAddress: string;
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
