import { readFileSync, writeFileSync } from "node:fs";
import type { Failure } from "../../src/base/wire/failure.ts";
import { type Naming, naming } from "../../src/orchestration/core/naming.ts";
import type { PortBinding } from "../../src/orchestration/core/workload.ts";
import { type Clock, systemClock } from "../../src/base/words/clock.ts";
import { type Bells, createBells } from "./memory-runtime/bells.ts";
import { type ContainerTable, createContainerTable, type Entry } from "./memory-runtime/container-table.ts";
import { createMachine, gatewayAddress, type Machine, type Parts } from "./memory-runtime/containers.ts";
import { createEventHub } from "./memory-runtime/event-hub.ts";
import { createMemoryFiles, type MemoryFiles } from "./memory-runtime/files.ts";
import { createExecs, type ExecHandler, type Execs } from "./memory-runtime/execs.ts";
import { waitForExit } from "./memory-runtime/exit-wait.ts";
import { createFaults, engineDown, type Faults, type Operation } from "./memory-runtime/faults.ts";
import { createGauges, type Gauges, type SocketFigures, type UsageFigures } from "./memory-runtime/gauges.ts";
import { diskCalls } from "./memory-runtime/disk.ts";
import { createImageShelf, type ImageFacts, type RemoteFacts } from "./memory-runtime/images.ts";
import { createLogShelf, type LogShelf } from "./memory-runtime/log-shelf.ts";
import { createResources } from "./memory-runtime/resources.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { createDial } from "../../src/orchestration/engine/dial.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";
import type { InspectedPod } from "../../src/orchestration/engine/pod.ts";
import type { EngineInfo, Image } from "../../src/orchestration/engine/machine.ts";
import { checkByExec } from "../../src/orchestration/engine/check.ts";
import { createShare } from "../../src/orchestration/engine/share.ts";

/** An `Engine` without Docker, for tests and simulation: the same behaviour, deterministic, with knobs for every fault. */
export interface MemoryRuntime extends Engine, MemoryFiles {
  /** Every call so far as `<operation> <subject>`, such as `start web.1`. Empty it with `calls.length = 0`. */
  readonly calls: string[];
  /** Every container on the machine, also while the engine is down; no call of its own. */
  containers(): InspectedPod[];
  /** Makes the operation fail `times` times, without it until told otherwise; `undefined` ends it. */
  fail(operation: Operation, failure: Failure | undefined, times?: number): void;
  /** Makes the operation take `ms` longer on the clock; 0 ends it. */
  delay(operation: Operation, ms: number): void;
  /** No call gets through and event streams break; containers go on, as with live-restore. */
  engineDown(): void;
  engineUp(): void;
  /** Takes calls and answers none, or answers all that wait. */
  engineHangs(hanging: boolean): void;

  /** `docker kill` by hand: it stays down whatever its restart policy. Exit code 137 unless given. */
  kill(nameOrId: string, exitCode?: number): void;
  /** The process ends by itself: the restart policy applies. */
  crash(nameOrId: string, exitCode?: number, options?: { oomKilled?: boolean }): void;
  /** The command ends, as a job's does: the restart policy applies. */
  finish(nameOrId: string, exitCode: number): void;
  stopByHand(nameOrId: string): void;
  removeByHand(nameOrId: string): void;
  renameByHand(nameOrId: string, name: string): void;
  /** As `docker network disconnect`: nothing of the container itself changes, and no event tells of it. */
  disconnectByHand(nameOrId: string, network: string): void;
  removeVolumeByHand(name: string): void;
  /** As `docker network rm`. */
  removeNetworkByHand(name: string): void;
  /** As `docker volume create`, or what another installation made. */
  addVolumeByHand(name: string, labels?: Record<string, string>): void;

  /** Puts an image on the machine; a tag that was there moves. Id and digest follow from the reference unless given. */
  addImage(ref: string, facts?: ImageFacts): Image;
  /** What a pull of this reference finds. */
  addRemoteImage(ref: string, facts?: RemoteFacts): void;
  /** What commands do that are run in containers; until then each ends at once with 0 and says nothing. */
  onExec(handler: ExecHandler): void;
  /** The container writes this. */
  writeLog(nameOrId: string, text: string): void;
  /** What `usage` tells of a container, until told otherwise; fields left out are as before. */
  setUsage(nameOrId: string, figures: Partial<UsageFigures>): void;

  /** What `connections` answers of a running container. */
  setConnections(nameOrId: string, figures: SocketFigures): void;

  /** A program that is no container takes a host port, or lets go of it. */
  occupyPort(binding: PortBinding, taken: boolean): void;

  /** Whether `info` names the program for `init`. */
  setHasInit(hasInit: boolean): void;
  /** The only paths of the machine that are there; before, all are. */
  setHostPaths(paths: readonly string[]): void;
  /** The log files of a container, by its id, were full. */
  dropLog(id: string): void;
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
  const bells = createBells();
  const table = createContainerTable(names);
  const parts = {
    owner: { names, installationId },
    table,
    bells,
    images: createImageShelf(now),
    resources: createResources({ names, installationId }),
    hub: createEventHub(),
    now,
  };
  const faults = createFaults(clock);
  const world = {
    ...parts,
    machine: createMachine(parts),
    faults,
    logs: createLogShelf({ table, bells, now }),
    execs: createExecs(table, bells),
    gauges: createGauges(table, now),
    freeBytes: 100 * 1024 ** 3,
    hostPaths: undefined,
    logsDropped: new Set<string>(),
    hasInit: true,
  };
  return {
    ...createMemoryFiles(faults),
    ...containerCalls(world),
    ...resourceCalls(world),
    ...imageCalls(world),
    ...diskCalls(world),
    ...insideCalls(world),
    ...engineCalls(world),
    ...knobs(world),
  };
}

interface World extends Parts {
  machine: Machine;
  faults: Faults;
  bells: Bells;
  logs: LogShelf;
  execs: Execs;
  gauges: Gauges;
  freeBytes: number | undefined;
  hostPaths: Set<string> | undefined;
  logsDropped: Set<string>;
  hasInit: boolean;
}

type Calls<Name extends keyof Engine> = Pick<Engine, Name>;

type ContainerCall =
  | "observe"
  | "named"
  | "dial"
  | "inspect"
  | "create"
  | "start"
  | "stop"
  | "pause"
  | "unpause"
  | "remove"
  | "removeUnlessRunning"
  | "rename";

function containerCalls(world: World): Calls<ContainerCall> {
  const { table, machine, faults } = world;
  const { does } = faults;
  const inspect: Engine["inspect"] = ({ id }) => does("inspect", id, () => table.get(id)?.detail);
  return {
    named: podRef,
    observe: (filter = {}) => does("observe", Object.values(filter).join("/"), () => table.rows(filter)),
    inspect,
    ...createDial(inspect),
    create: (spec) => does("create", spec.name, () => podRef(machine.create(spec))),
    start: ({ id }) => does("start", id, () => machine.start(id)),
    stop: ({ id }) => does("stop", id, () => machine.stop(id)),
    pause: ({ id }) => does("pause", id, () => machine.pause(id)),
    unpause: ({ id }) => does("unpause", id, () => machine.unpause(id)),
    remove: ({ id }) => does("remove", id, () => removeAll(world, id)),
    removeUnlessRunning: ({ id }) => does("remove", id, () => removeIdle(world, id)),
    rename: ({ id }, name) => does("rename", id, () => machine.rename(id, name)),
  };
}

function resourceCalls({
  table,
  resources,
  faults,
}: World): Calls<
  | "ensureNetwork"
  | "hasNetwork"
  | "makeClosedNetwork"
  | "removeNetworks"
  | "networkGateway"
  | "networkSubnets"
  | "ensureVolume"
  | "listVolumes"
  | "inspectVolume"
  | "volumeUsers"
  | "removeVolume"
> {
  const { does } = faults;
  const mounting =
    (name: string) =>
    ({ spec }: Entry) =>
      spec.mounts.some(({ type, source }) => type === "volume" && source === name);
  const mounts = (name: string) => some(table, mounting(name));
  return {
    ensureNetwork: (name) => does("ensureNetwork", name, () => resources.ensureNetwork(name)),
    hasNetwork: (name) => does("hasNetwork", name, () => resources.hasNetwork(name)),
    makeClosedNetwork: (name, labels) =>
      does("makeClosedNetwork", name, () => resources.makeClosedNetwork(name, labels)),
    removeNetworks: (labels) =>
      does("removeNetworks", "", () => {
        for (const name of resources.networksWith(labels)) {
          const inUse = some(table, ({ spec }) => spec.networks.some((network) => network.name === name));
          resources.removeNetwork(name, inUse);
        }
      }),
    networkGateway: (name) =>
      does("networkGateway", name, () => (resources.hasNetwork(name) ? gatewayAddress : undefined)),
    networkSubnets: (name) =>
      does("networkSubnets", name, () => (resources.hasNetwork(name) ? [`${gatewayAddress}/16`] : [])),
    ensureVolume: (name, labels) => does("ensureVolume", name, () => resources.ensureVolume(name, labels)),
    listVolumes: (labels) => does("listVolumes", "", () => resources.listVolumes(labels)),
    inspectVolume: (name) => does("inspectVolume", name, () => resources.findVolume(name)),
    volumeUsers: (name) =>
      does("volumeUsers", name, () => [...table.entries()].filter(mounting(name)).map(({ detail }) => detail)),
    removeVolume: (name) => does("removeVolume", name, () => resources.removeVolume(name, mounts(name))),
  };
}

function imageCalls({
  table,
  images,
  faults,
}: World): Calls<
  "inspectImage" | "pull" | "build" | "listImages" | "tagImage" | "removeImage" | "saveImage" | "loadImage"
> {
  const { does } = faults;
  const share = createShare<Image>();
  const runs = (id: string) => some(table, ({ detail }) => detail.imageId === id);
  return {
    inspectImage: (refOrId) => does("inspectImage", refOrId, () => images.find(refOrId)),
    pull: (ref, auth) =>
      share(JSON.stringify([ref, auth ?? null]), () => does("pull", ref, () => images.pull(ref, auth))),
    build: async (request) => await (await does("build", request.ref, () => [images.build(request)] as const))[0],
    listImages: () => does("listImages", "", () => images.list()),
    tagImage: (id, ref) => does("tagImage", `${id} ${ref}`, () => images.tag(id, ref)),
    removeImage: (refOrId) => does("removeImage", refOrId, () => images.remove(refOrId, runs)),
    saveImage: (id, path) => does("saveImage", id, () => writeFileSync(path, JSON.stringify(images.find(id)))),
    loadImage: (path) =>
      does("loadImage", path, () => {
        const { id, labels } = JSON.parse(readFileSync(path, "utf8")) as Image;
        images.add(id, { id, labels });
      }),
  };
}

function insideCalls(
  world: World,
): Calls<"exec" | "check" | "startAttached" | "logs" | "logFile" | "logDropped" | "wait" | "usage" | "connections"> {
  const { faults, logs, execs, gauges } = world;
  const { does } = faults;
  const exec: Engine["exec"] = ({ id }, spec) =>
    does("exec", [id, ...spec.command].join(" "), () => execs.start(id, spec));
  return {
    exec,
    check: (pod, command, signal) => checkByExec((spec) => exec(pod, spec), command, signal),
    startAttached: ({ id }, options) => does("startAttached", id, () => execs.attach(id, options, world.machine)),
    logs: async function* ({ id }, options, signal) {
      yield* await does("logs", id, () => logs.read(id, options, signal));
    },
    wait: ({ id }, signal) => waitForExit(world, id, signal),
    usage: () => does("usage", "", gauges.usage),
    logFile: async () => undefined,
    logDropped: async ({ id }) => world.logsDropped.has(id),
    connections: ({ id }) => does("connections", id, () => gauges.connections(id)),
  };
}

function engineCalls(
  world: World,
): Calls<"info" | "ping" | "suspend" | "resume" | "events" | "freeBytes" | "hasHostPath" | "portHolders" | "close"> {
  const { faults, hub, machine, logs, execs } = world;
  return {
    info: () => faults.does("info", "", () => ({ ...memoryInfo, hasInit: world.hasInit })),
    ping: faults.ping,
    suspend(why) {
      faults.suspend(why);
      logs.breakAll(why());
      execs.breakAll();
    },
    resume: faults.resume,
    events: async function* (signal, onOpen) {
      yield* await faults.does("events", "", () => hub.follow(signal, onOpen));
    },
    portHolders: (bindings) => faults.does("portHolders", "", () => machine.portHolders(bindings)),
    hasHostPath: async (path) => world.hostPaths === undefined || world.hostPaths.has(path),
    freeBytes: () => faults.does("freeBytes", "", () => world.freeBytes),
    close: () => loseEngine(world),
  };
}

function loseEngine({ faults, hub, logs, execs }: World): void {
  faults.setDown(true);
  hub.breakAll(engineDown());
  logs.breakAll(engineDown());
  execs.breakAll();
}

function findEngine({ faults, bells }: World): void {
  faults.setDown(false);
  bells.ringAll();
}

/** Of a container that has gone, nothing is kept. */
function removeAll({ table, machine, logs, gauges }: World, nameOrId: string): void {
  const id = table.get(nameOrId)?.detail.id ?? "";
  machine.remove(nameOrId);
  logs.delete(id);
  gauges.delete(id);
}

function removeIdle(world: World, nameOrId: string): boolean {
  if (world.table.get(nameOrId)?.detail.state === "running") return false;
  removeAll(world, nameOrId);
  return true;
}

function knobs(world: World): Omit<MemoryRuntime, keyof Engine | keyof MemoryFiles> {
  const { faults, machine, images, resources, table, gauges } = world;
  return {
    calls: faults.calls,
    containers: () => Array.from(table.entries(), ({ detail }) => detail),
    fail: faults.fail,
    delay: faults.delay,
    engineDown: () => loseEngine(world),
    engineUp: () => findEngine(world),
    engineHangs: faults.setHanging,
    kill: (nameOrId, exitCode = 137) => machine.die(nameOrId, { exitCode, byHand: true }),
    crash: (nameOrId, exitCode = 1, { oomKilled = false } = {}) =>
      machine.die(nameOrId, { exitCode, byHand: false, oomKilled }),
    finish: (nameOrId, exitCode) => machine.die(nameOrId, { exitCode, byHand: false }),
    stopByHand: machine.stop,
    removeByHand: (nameOrId) => removeAll(world, nameOrId),
    renameByHand: machine.rename,
    disconnectByHand: (nameOrId, network) => {
      const entry = table.get(nameOrId);
      if (entry === undefined) return;
      const { [network]: _, ...networks } = entry.detail.networks;
      const { [network]: __, ...addresses } = entry.detail.addresses;
      table.put(entry.spec, { ...entry.detail, networks, addresses, joined: Object.keys(networks) });
    },
    removeVolumeByHand: (name) => resources.removeVolume(name, false),
    removeNetworkByHand: (name) => resources.removeNetwork(name, false),
    addVolumeByHand: (name, labels = {}) => resources.addVolume(name, labels),
    addImage: images.add,
    addRemoteImage: images.addRemote,
    onExec: world.execs.onExec,
    writeLog: world.logs.write,
    setConnections: gauges.setConnections,
    setUsage: gauges.setUsage,
    occupyPort: machine.occupyPort,
    dropLog: (id) => {
      world.logsDropped.add(id);
    },
    setHostPaths: (paths) => {
      world.hostPaths = new Set(paths);
    },
    setFreeBytes: (bytes) => {
      world.freeBytes = bytes;
    },
    setHasInit: (hasInit) => {
      world.hasInit = hasInit;
    },
  };
}

const memoryInfo: EngineInfo = {
  version: "memory",
  apiVersion: "1.41",
  cgroupVersion: 2,
  liveRestore: true,
  hasInit: true,
  rootDir: "",
  operatingSystem: "memory",
  architecture: "x86_64",
  cpus: 4,
};

function some(table: ContainerTable, test: (entry: Entry) => boolean): boolean {
  for (const entry of table.entries()) if (test(entry)) return true;
  return false;
}
