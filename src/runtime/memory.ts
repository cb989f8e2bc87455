import type { Failure } from "../api/failure.ts";
import { type Naming, naming } from "../core/naming.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { createContainerTable } from "./memory/container-table.ts";
import { createMachine } from "./memory/containers.ts";
import { createEventHub } from "./memory/event-hub.ts";
import { createFaults, engineDown, type Operation } from "./memory/faults.ts";
import { createImageShelf, type ImageFacts, type RemoteFacts } from "./memory/images.ts";
import { createResources } from "./memory/resources.ts";
import type { Image, Runtime, RuntimeEvent } from "./runtime.ts";
import { createShare } from "./share.ts";

/** A `Runtime` without an engine, for tests and simulation: the same behaviour, deterministic, with knobs for every fault. */
export interface MemoryRuntime extends Runtime {
  /** Every call so far as `<operation> <subject>`, such as `start web.1`. Empty it with `calls.length = 0`. */
  readonly calls: string[];
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
  const faults = createFaults(clock);
  const parts = {
    owner: { names, installationId },
    table: createContainerTable(names.label),
    images: createImageShelf(now),
    resources: createResources({ names, installationId }),
    hub: createEventHub(),
    now,
  };
  const { table, images, resources, hub } = parts;
  const machine = createMachine(parts);
  const share = createShare<Image>();
  let free: number | undefined = 100 * 1024 ** 3;

  const engineLost = () => {
    faults.setDown(true);
    hub.breakAll(engineDown());
  };

  const does =
    <Rest extends unknown[], T>(operation: Operation, act: (subject: string, ...rest: Rest) => T) =>
    async (subject: string, ...rest: Rest): Promise<T> => {
      await faults.enter(operation, subject);
      return act(subject, ...rest);
    };

  const runtime: Runtime = {
    info: async () => {
      await faults.enter("info");
      return memoryInfo;
    },
    list: async (filter = {}) => {
      await faults.enter("list", Object.values(filter).join("/"));
      return table.rows(filter);
    },
    inspect: does("inspect", (nameOrId) => table.get(nameOrId)?.detail),
    create: async (spec) => {
      await faults.enter("create", spec.name);
      return machine.create(spec);
    },
    start: does("start", machine.start),
    stop: does("stop", machine.stop),
    remove: does("remove", machine.remove),
    rename: does("rename", machine.rename),

    ensureNetwork: does("ensureNetwork", resources.ensureNetwork),
    removeNetwork: does("removeNetwork", (name) => resources.removeNetwork(name, networkInUse(table.entries(), name))),
    ensureVolume: does("ensureVolume", resources.ensureVolume),
    listVolumes: async (labels) => {
      await faults.enter("listVolumes");
      return resources.listVolumes(labels);
    },
    inspectVolume: does("inspectVolume", resources.findVolume),
    removeVolume: does("removeVolume", (name) => resources.removeVolume(name, volumeInUse(table.entries(), name))),

    inspectImage: does("inspectImage", images.find),
    pull: (ref, auth) =>
      share(JSON.stringify([ref, auth ?? null]), async () => {
        await faults.enter("pull", ref);
        return images.pull(ref, auth);
      }),
    listImages: async () => {
      await faults.enter("listImages");
      return images.list();
    },
    removeImage: does("removeImage", (ref) => images.remove(ref, (id) => imageInUse(table.entries(), id))),

    events: (signal, onOpen) => follow(signal, onOpen),
    freeBytes: async () => {
      await faults.enter("freeBytes");
      return free;
    },
    close: engineLost,
  };

  async function* follow(signal: AbortSignal, onOpen: () => void): AsyncGenerator<RuntimeEvent> {
    await faults.enter("events");
    yield* hub.follow(signal, onOpen);
  }

  return {
    ...runtime,
    calls: faults.calls,
    fail: faults.fail,
    delay: faults.delay,
    engineDown: engineLost,
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
      free = bytes;
    },
  };
}

const memoryInfo = {
  version: "memory",
  apiVersion: "1.41",
  cgroupVersion: 2 as const,
  liveRestore: true,
  rootDir: "",
  operatingSystem: "memory",
  architecture: "x86_64",
};

type Entries = ReturnType<ReturnType<typeof createContainerTable>["entries"]>;

function networkInUse(entries: Entries, name: string): boolean {
  return some(entries, ({ detail }) => detail.state === "running" && name in detail.networks);
}

function volumeInUse(entries: Entries, name: string): boolean {
  return some(entries, ({ spec }) => spec.mounts.some(({ type, source }) => type === "volume" && source === name));
}

function imageInUse(entries: Entries, id: string): boolean {
  return some(entries, ({ detail }) => detail.imageId === id);
}

function some<T>(items: Iterable<T>, test: (item: T) => boolean): boolean {
  for (const item of items) if (test(item)) return true;
  return false;
}
