import type { Failure } from "../api/failure.ts";
import { type Naming, naming } from "../core/naming.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type ContainerTable, createContainerTable, type Entry } from "./memory/container-table.ts";
import { createMachine, type Machine, type Parts } from "./memory/containers.ts";
import { createEventHub } from "./memory/event-hub.ts";
import { createFaults, engineDown, type Faults, type Operation } from "./memory/faults.ts";
import { createImageShelf, type ImageFacts, type RemoteFacts } from "./memory/images.ts";
import { createResources } from "./memory/resources.ts";
import type { ContainerDetail, EngineInfo, Image, Runtime } from "./runtime.ts";
import { createShare } from "./share.ts";

/** A `Runtime` without an engine, for tests and simulation: the same behaviour, deterministic, with knobs for every fault. */
export interface MemoryRuntime extends Runtime {
  /** Every call so far as `<operation> <subject>`, such as `start web.1`. Empty it with `calls.length = 0`. */
  readonly calls: string[];
  /** Every container on the machine, also while the engine is down; no call of its own. */
  containers(): ContainerDetail[];
  /** Makes the operation fail `times` times, without it until told otherwise; `undefined` ends it. */
  fail(operation: Operation, failure: Failure | undefined, times?: number): void;
  /** Makes the operation take `ms` longer on the clock; 0 ends it. */
  delay(operation: Operation, ms: number): void;
  /** No call gets through and event streams break; containers go on, as with live-restore. */
  engineDown(): void;
  engineUp(): void;

  /** `docker kill` by hand: it stays down whatever its restart policy. Exit code 137 unless given. */
  kill(nameOrId: string, exitCode?: number): void;
  /** The process ends by itself: the restart policy applies. */
  crash(nameOrId: string, exitCode?: number, options?: { oomKilled?: boolean }): void;
  stopByHand(nameOrId: string): void;
  removeByHand(nameOrId: string): void;
  renameByHand(nameOrId: string, name: string): void;
  removeVolumeByHand(name: string): void;

  /** Puts an image on the machine; a tag that was there moves. Id and digest follow from the reference unless given. */
  addImage(ref: string, facts?: ImageFacts): Image;
  /** What a pull of this reference finds. */
  addRemoteImage(ref: string, facts?: RemoteFacts): void;
  /** What `freeBytes` answers. */
  setFreeBytes(bytes: number | undefined): void;
}

export interface MemoryOptions {
  clock?: Clock;
  names?: Naming;
  installationId?: string;
}

export function createMemoryRuntime(options: MemoryOptions = {}): MemoryRuntime {
  const { clock = systemClock, names = naming(), installationId = "memory" } = options;
  const now = () => clock.now();
  const parts = {
    owner: { names, installationId },
    table: createContainerTable(names.label),
    images: createImageShelf(now),
    resources: createResources({ names, installationId }),
    hub: createEventHub(),
    now,
  };
  const faults = createFaults(clock);
  const world = { ...parts, machine: createMachine(parts), faults, freeBytes: 100 * 1024 ** 3 };
  return {
    ...containerCalls(world),
    ...resourceCalls(world),
    ...imageCalls(world),
    ...engineCalls(world),
    ...knobs(world),
  };
}

interface World extends Parts {
  machine: Machine;
  faults: Faults;
  freeBytes: number | undefined;
}

type Calls<Name extends keyof Runtime> = Pick<Runtime, Name>;

function containerCalls({
  table,
  machine,
  faults,
}: World): Calls<"list" | "inspect" | "create" | "start" | "stop" | "remove" | "rename"> {
  const { does } = faults;
  return {
    list: (filter = {}) => does("list", Object.values(filter).join("/"), () => table.rows(filter)),
    inspect: (nameOrId) => does("inspect", nameOrId, () => table.get(nameOrId)?.detail),
    create: (spec) => does("create", spec.name, () => machine.create(spec)),
    start: (nameOrId) => does("start", nameOrId, () => machine.start(nameOrId)),
    stop: (nameOrId) => does("stop", nameOrId, () => machine.stop(nameOrId)),
    remove: (nameOrId) => does("remove", nameOrId, () => machine.remove(nameOrId)),
    rename: (nameOrId, name) => does("rename", nameOrId, () => machine.rename(nameOrId, name)),
  };
}

function resourceCalls({
  table,
  resources,
  faults,
}: World): Calls<
  "ensureNetwork" | "removeNetwork" | "ensureVolume" | "listVolumes" | "inspectVolume" | "removeVolume"
> {
  const { does } = faults;
  const runsIn = (name: string) => some(table, ({ detail }) => detail.state === "running" && name in detail.networks);
  const mounts = (name: string) =>
    some(table, ({ spec }) => spec.mounts.some(({ type, source }) => type === "volume" && source === name));
  return {
    ensureNetwork: (name) => does("ensureNetwork", name, () => resources.ensureNetwork(name)),
    removeNetwork: (name) => does("removeNetwork", name, () => resources.removeNetwork(name, runsIn(name))),
    ensureVolume: (name, labels) => does("ensureVolume", name, () => resources.ensureVolume(name, labels)),
    listVolumes: (labels) => does("listVolumes", "", () => resources.listVolumes(labels)),
    inspectVolume: (name) => does("inspectVolume", name, () => resources.findVolume(name)),
    removeVolume: (name) => does("removeVolume", name, () => resources.removeVolume(name, mounts(name))),
  };
}

function imageCalls({ table, images, faults }: World): Calls<"inspectImage" | "pull" | "listImages" | "removeImage"> {
  const { does } = faults;
  const share = createShare<Image>();
  const runs = (id: string) => some(table, ({ detail }) => detail.imageId === id);
  return {
    inspectImage: (refOrId) => does("inspectImage", refOrId, () => images.find(refOrId)),
    pull: (ref, auth) =>
      share(JSON.stringify([ref, auth ?? null]), () => does("pull", ref, () => images.pull(ref, auth))),
    listImages: () => does("listImages", "", () => images.list()),
    removeImage: (refOrId) => does("removeImage", refOrId, () => images.remove(refOrId, runs)),
  };
}

function engineCalls(world: World): Calls<"info" | "events" | "freeBytes" | "close"> {
  const { faults, hub } = world;
  return {
    info: () => faults.does("info", "", () => memoryInfo),
    events: async function* (signal, onOpen) {
      yield* await faults.does("events", "", () => hub.follow(signal, onOpen));
    },
    freeBytes: () => faults.does("freeBytes", "", () => world.freeBytes),
    close: () => loseEngine(world),
  };
}

function loseEngine({ faults, hub }: World): void {
  faults.setDown(true);
  hub.breakAll(engineDown());
}

function knobs(world: World): Omit<MemoryRuntime, keyof Runtime> {
  const { faults, machine, images, resources, table } = world;
  return {
    calls: faults.calls,
    containers: () => Array.from(table.entries(), ({ detail }) => detail),
    fail: faults.fail,
    delay: faults.delay,
    engineDown: () => loseEngine(world),
    engineUp: () => faults.setDown(false),
    kill: (nameOrId, exitCode = 137) => machine.die(nameOrId, { exitCode, byHand: true }),
    crash: (nameOrId, exitCode = 1, { oomKilled = false } = {}) =>
      machine.die(nameOrId, { exitCode, byHand: false, oomKilled }),
    stopByHand: machine.stop,
    removeByHand: machine.remove,
    renameByHand: machine.rename,
    removeVolumeByHand: (name) => resources.removeVolume(name, false),
    addImage: images.add,
    addRemoteImage: images.addRemote,
    setFreeBytes: (bytes) => {
      world.freeBytes = bytes;
    },
  };
}

const memoryInfo: EngineInfo = {
  version: "memory",
  apiVersion: "1.41",
  cgroupVersion: 2,
  liveRestore: true,
  rootDir: "",
  operatingSystem: "memory",
  architecture: "x86_64",
};

function some(table: ContainerTable, test: (entry: Entry) => boolean): boolean {
  for (const entry of table.entries()) if (test(entry)) return true;
  return false;
}
