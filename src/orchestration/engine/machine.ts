import type { Failure } from "../../base/wire/failure.ts";
import type { PortBinding } from "../core/workload.ts";
import type { ObservedPod } from "./pod.ts";

/** What an engine offers beside containers: facts, networks, volumes, images and ports of the machine that it runs on. */
export interface Machine {
  /** Facts about the engine. */
  info(): Promise<EngineInfo>;
  /**
   * Asks for the smallest sign of life, also while the engine is suspended. The only call without a deadline: it rejects
   * when `signal` aborts. Fails `unavailable` where the engine cannot be reached.
   */
  ping(signal: AbortSignal): Promise<void>;
  /**
   * The engine hangs: every call and stream under way ends with this failure, and each new call fails with it at once,
   * until `resume`. Asked for each of them, as the text tells a duration.
   */
  suspend(why: () => Failure): void;
  resume(): void;

  /** Makes the bridge network when missing; idempotent. */
  ensureNetwork(name: string): Promise<void>;
  hasNetwork(name: string): Promise<boolean>;
  /**
   * Makes a bridge network without a way out: its containers reach each other, and neither this machine, nor its other
   * networks, nor anything beyond. Fails `conflict` where the name is taken.
   */
  makeClosedNetwork(name: string, labels: Record<string, string>): Promise<void>;
  /** Removes the networks of this installation that carry all given labels; `conflict` while a container is in one. */
  removeNetworks(labels: Record<string, string>): Promise<void>;
  /** IPv4 address of this machine in a bridge network; undefined when it is missing or has none. */
  networkGateway(name: string): Promise<string | undefined>;
  /** Its IPv4 subnets, such as `172.18.0.0/16`; none when it is missing. */
  networkSubnets(name: string): Promise<string[]>;
  /** Makes a named volume when missing. `created` says whether it did. Fails `conflict`/`VolumeForeign` when one exists whose labels name another owner. */
  ensureVolume(name: string, labels: Record<string, string>): Promise<{ created: boolean }>;
  /** Volumes that carry all given labels. */
  listVolumes(labels: Record<string, string>): Promise<Volume[]>;
  inspectVolume(name: string): Promise<Volume | undefined>;
  /** Every container that mounts the volume, ours or not, in every state. */
  volumeUsers(name: string): Promise<ObservedPod[]>;
  /** Missing is fine; `conflict` while in use. */
  removeVolume(name: string): Promise<void>;

  /** Undefined when not on the machine. */
  inspectImage(refOrId: string): Promise<Image | undefined>;
  /** Pulls and returns what came. */
  pull(ref: string, auth: RegistryAuth | undefined): Promise<Image>;
  /**
   * Builds an image and returns it. Fails `conflict`/`BuildFailed` in the words of the step that failed. Rejects when
   * `signal` aborts, which also ends the build in the engine.
   */
  build(request: ImageBuild): Promise<Image>;
  /** Without env, entrypoint and command. */
  listImages(): Promise<Image[]>;
  /** Gives an image one more name; where another image has that name, it moves. False where no image has the id. */
  tagImage(id: string, ref: string): Promise<boolean>;
  /** Writes an image, without its names, into a new file that only the owner reads. */
  saveImage(id: string, path: string): Promise<void>;
  /** Takes an image from a file that `saveImage` has written. */
  loadImage(path: string): Promise<void>;
  /** Removes an image; a name of an image with several names takes only that name away. Missing is fine; `conflict` while in use. */
  removeImage(refOrId: string): Promise<void>;

  /**
   * Who holds any of these fixed host ports: running containers that publish them, ours or not, and other programs of
   * the machine where those can be seen from here.
   */
  portHolders(bindings: readonly PortBinding[]): Promise<PortHolder[]>;

  /** What fills the disk of the engine, measured now: that takes seconds where there is much. */
  diskUse(): Promise<EngineDisk>;
  /** Removes build cache that no build is using, and answers with the bytes that came free. */
  pruneBuildCache(): Promise<number>;

  /** Free bytes where the engine keeps its images; undefined when that cannot be seen from here. */
  freeBytes(): Promise<number | undefined>;

  /** Whether a path of its machine leads to something; undefined when that cannot be seen from here. */
  hasHostPath(path: string): Promise<boolean | undefined>;

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

export interface EngineInfo {
  version: string;
  apiVersion: string;
  cgroupVersion: 1 | 2;
  liveRestore: boolean;
  /** Whether it has the small program that `init` makes process 1 of a container. */
  hasInit: boolean;
  rootDir: string;
  operatingSystem: string;
  architecture: string;
  /** Processors of its machine; undefined where it does not say. */
  cpus: number | undefined;
}

/** What fills the disk of an engine, ours and that of others. */
export interface EngineDisk {
  /** Size of the layers of all images, shared ones counted once. */
  layersBytes: number;
  /** `containers`: how many use it, in every state. */
  images: { id: string; tags: string[]; bytes: number; containers: number }[];
  /** What containers wrote outside of volumes. */
  writableBytes: number;
  containers: number;
  /** Size of their log files; undefined where those cannot be read from here. */
  logBytes: number | undefined;
  /** `bytes` and `users` are undefined where the engine did not measure. */
  volumes: (Volume & { bytes: number | undefined; users: number | undefined })[];
  buildCacheBytes: number;
  buildCacheUnusedBytes: number;
}

export interface Volume {
  name: string;
  labels: Record<string, string>;
  /** Folder of its data on the engine's machine; undefined where the data is elsewhere: another driver, or one with options. */
  mountpoint?: string | undefined;
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
  /** What a container starts that names no other; both empty in listings. */
  entrypoint: string[];
  command: string[];
  /** Labels of the image's own configuration; empty in listings. */
  labels: Record<string, string>;
}

export interface ImageBuild {
  /** A tar archive of the folder, gzipped or not; read once. */
  context: AsyncIterable<Uint8Array>;
  /** Path in the archive. */
  dockerfile: string;
  target: string | undefined;
  args: Readonly<Record<string, string>>;
  /** By BuildKit instead of the classic builder. */
  buildkit: boolean;
  /** By the id that a step mounts them with; needs `buildkit`. No layer, history or output of the builder holds them. */
  secrets: Readonly<Record<string, string>>;
  /** The reference that the image gets. */
  ref: string;
  labels: Readonly<Record<string, string>>;
  /** Memory of each step; undefined: no limit. BuildKit has none. */
  memoryBytes: number | undefined;
  /** CPU of each step; undefined: no limit. BuildKit has none. */
  nanoCpus: number | undefined;
  /** Weight against other containers, whose own is 1024. */
  cpuShares: number;
  /** Longest silence of the engine. */
  idleMs: number;
  /** Output as it comes, in parts of lines. */
  onOutput: (text: string) => void;
  signal: AbortSignal;
}

export interface RegistryAuth {
  username: string;
  password: string;
  serverAddress: string;
}
