import { Failure, type FailureReason } from "../../../src/base/wire/failure.ts";
import type { ContainerSpec, PortBinding } from "../../../src/orchestration/core/workload.ts";
import { containerLabels, type Owner } from "../../../src/orchestration/engine/ownership.ts";
import type { PortHolder } from "../../../src/orchestration/engine/machine.ts";
import type { Bells } from "./bells.ts";
import type { ContainerTable, Entry, Unplaced } from "./container-table.ts";
import type { EventHub } from "./event-hub.ts";
import type { ImageShelf } from "./images.ts";
import { createPortTable, type PortTable } from "./ports.ts";
import type { Resources } from "./resources.ts";

export interface Parts {
  owner: Owner;
  table: ContainerTable;
  images: ImageShelf;
  resources: Resources;
  hub: EventHub;
  /** Rung for a container after each of its changes. */
  bells: Bells;
  now: () => number;
}

/** What an engine does with containers, at once and without faults. Missing containers fail `not_found`. */
export interface Machine {
  create(spec: ContainerSpec): string;
  start(nameOrId: string): void;
  stop(nameOrId: string): void;
  /** Whether it is paused then: only what runs can be. */
  pause(nameOrId: string): boolean;
  unpause(nameOrId: string): void;
  /** The main process ends. By hand (stop, kill) the restart policy does not apply. */
  die(nameOrId: string, how: { exitCode: number; byHand: boolean; oomKilled?: boolean }): void;
  remove(nameOrId: string): void;
  rename(nameOrId: string, name: string): void;
  /** A program that is no container takes a port, or lets go of it. */
  occupyPort(binding: PortBinding, taken: boolean): void;
  portHolders(bindings: readonly PortBinding[]): PortHolder[];
}

export function createMachine(parts: Parts): Machine {
  const world: World = { ...parts, ports: createPortTable(), made: 0, started: 0 };
  const { ports, table } = world;
  return {
    create: (spec) => create(world, spec),
    start: (nameOrId) => start(world, nameOrId, 0),
    stop: (nameOrId) => stop(world, nameOrId),
    pause: (nameOrId) => pause(world, nameOrId),
    unpause: (nameOrId) => unpause(world, nameOrId),
    die: (nameOrId, how) => die(world, nameOrId, how),
    remove: (nameOrId) => remove(world, nameOrId),
    rename: (nameOrId, name) => rename(world, nameOrId, name),
    occupyPort: (binding, taken) => {
      const program = `port ${binding.hostPort}`;
      if (taken) ports.claim(program, [binding]);
      else ports.release(program);
    },
    portHolders: (bindings) =>
      bindings.flatMap((binding) =>
        ports.holders(binding).map((id) => {
          const detail = table.get(id)?.detail;
          if (detail === undefined) return { binding, holder: "another program", container: undefined };
          return { binding, holder: `container "${detail.name}"`, container: id };
        }),
      ),
  };
}

interface World extends Parts {
  ports: PortTable;
  /** Containers made and starts done so far: ids, pids and addresses follow from them. */
  made: number;
  started: number;
}

function create(world: World, spec: ContainerSpec): string {
  const image = world.images.find(spec.image);
  const words = `cannot create container "${spec.name}"`;
  if (image === undefined) throw refusal("ImageMissing", `${words}: no such image: ${spec.image}`);
  if (world.table.has(spec.name)) throw refusal("NameTaken", `${words}: the name is already in use`);
  for (const { type, source } of spec.mounts) if (type === "volume") world.resources.mountVolume(source);
  world.made += 1;
  const id = world.made.toString(16).padStart(12, "0").padEnd(64, "0");
  const labels = containerLabels(world.owner, spec);
  const made = { id, labels, env: { ...image.env, ...spec.env }, imageId: image.id, createdAt: world.now() };
  publish(world, "create", world.table.put(spec, createdDetail(spec, made)));
  return id;
}

/** Like the engine: a start that somebody asks for begins the count of restarts anew. */
function start(world: World, nameOrId: string, restartCount: number): void {
  const entry = entryOf(world, nameOrId);
  const { spec, detail } = entry;
  if (detail.state === "running") return;
  const lacking = joined(spec).find(({ name }) => !world.resources.hasNetwork(name));
  if (lacking !== undefined) throw startRefused(world, entry, ["StartFailed", `network ${lacking.name} not found`]);
  const ports = world.ports.claim(detail.id, spec.networkMode === "bridge" ? spec.ports : []);
  if ("taken" in ports) {
    throw startRefused(world, entry, ["PortTaken", `host port ${ports.taken} is already allocated`]);
  }
  world.started += 1;
  const facts = runningFacts(detail, world.started, world.now());
  publish(world, "start", update(world, entry, { ...facts, ports, restartCount }));
}

function stop(world: World, nameOrId: string): void {
  const entry = entryOf(world, nameOrId);
  if (entry.detail.state !== "running" && entry.detail.state !== "paused") return;
  publish(world, "kill", entry);
  publish(world, "stop", end(world, entry, { exitCode: 143 }));
}

function pause(world: World, nameOrId: string): boolean {
  const entry = world.table.get(nameOrId);
  if (entry?.detail.state === "running") publish(world, "pause", update(world, entry, { state: "paused" }));
  return world.table.get(nameOrId)?.detail.state === "paused";
}

function unpause(world: World, nameOrId: string): void {
  const entry = world.table.get(nameOrId);
  if (entry?.detail.state === "paused") publish(world, "unpause", update(world, entry, { state: "running" }));
}

function die(world: World, nameOrId: string, how: Parameters<Machine["die"]>[1]): void {
  const entry = entryOf(world, nameOrId);
  if (entry.detail.state !== "running") return;
  if (how.byHand) publish(world, "kill", entry);
  const ended = end(world, entry, how);
  if (how.byHand || !restarts(entry, how.exitCode)) return;
  start(world, nameOrId, ended.detail.restartCount + 1);
}

function remove(world: World, nameOrId: string): void {
  const entry = world.table.get(nameOrId);
  if (entry === undefined) return;
  if (entry.detail.state === "running" || entry.detail.state === "paused") {
    publish(world, "kill", entry);
    end(world, entry, { exitCode: 137 });
  }
  world.table.delete(entry.detail.id);
  publish(world, "destroy", entry);
}

function rename(world: World, nameOrId: string, name: string): void {
  const entry = entryOf(world, nameOrId);
  const words = `cannot rename container "${nameOrId}"`;
  if (world.table.has(name)) throw refusal("NameTaken", `${words}: the name "${name}" is already in use`);
  publish(world, "rename", update(world, entry, { name }));
}

function end(
  world: World,
  entry: Entry,
  { exitCode, oomKilled = false }: { exitCode: number; oomKilled?: boolean },
): Entry {
  world.ports.release(entry.detail.id);
  const ended = update(world, entry, { ...endedFacts(entry.detail, exitCode, world.now()), oomKilled });
  if (oomKilled) publish(world, "oom", ended);
  publish(world, "die", ended);
  return ended;
}

function entryOf(world: World, nameOrId: string): Entry {
  const entry = world.table.get(nameOrId);
  if (entry === undefined) throw new Failure("not_found", `container "${nameOrId}" does not exist`);
  return entry;
}

function update(world: World, { spec, detail }: Entry, change: Partial<Unplaced>): Entry {
  return world.table.put(spec, { ...detail, ...change });
}

/** As with the engine, only a `die` tells an exit code. */
function publish(world: World, action: string, { detail }: Entry): void {
  const { node, id, name, identity } = detail;
  const exitCode = action === "die" ? detail.exitCode : undefined;
  world.hub.publish({ action, node, id, name, identity, exitCode, at: world.now() });
  world.bells.ring(id);
}

function refusal(reason: FailureReason, message: string): Failure {
  return new Failure("conflict", message, { reason });
}

/** The engine keeps the words of a failed start with the container. */
function startRefused(world: World, entry: Entry, [reason, words]: [FailureReason, string]): Failure {
  update(world, entry, { error: words });
  return refusal(reason, `cannot start container "${entry.detail.name}": ${words}`);
}

const joined = (spec: ContainerSpec) => (spec.networkMode === "bridge" ? spec.networks : []);

/** As the engine lists them: those of the machine and of nobody count as networks, too. */
const connected = (spec: ContainerSpec) =>
  spec.networkMode === "bridge" ? spec.networks : [{ name: spec.networkMode, aliases: [] }];

const modes = ["host", "none"];

function restarts({ spec, detail }: Entry, exitCode: number): boolean {
  const { name, maximumRetryCount } = spec.restart;
  if (name !== "on-failure") return name !== "no";
  return exitCode !== 0 && (maximumRetryCount === 0 || detail.restartCount < maximumRetryCount);
}

type Made = Pick<Unplaced, "id" | "labels" | "env" | "imageId" | "createdAt">;

function createdDetail(spec: ContainerSpec, made: Made): Unplaced {
  return {
    ...made,
    name: spec.name,
    image: spec.image,
    state: "created",
    status: "Created",
    startedAt: undefined,
    finishedAt: undefined,
    exitCode: undefined,
    oomKilled: false,
    error: "",
    restartCount: 0,
    pid: undefined,
    command: spec.command ?? [],
    entrypoint: spec.options.entrypoint ?? [],
    workingDir: spec.options.workingDir ?? "",
    joined: connected(spec).map(({ name }) => name),
    addresses: {},
    networks: Object.fromEntries(
      connected(spec).map(({ name, aliases }) => [name, { networkId: name, ipAddress: "", gateway: "", aliases }]),
    ),
    mounts: spec.mounts.map(({ type, source, target, readOnly }) => {
      return { type, source, destination: target, mode: readOnly ? "ro" : "", rw: !readOnly };
    }),
    ports: [],
    restartPolicy: spec.restart.name,
    stopGraceMs: spec.stopGraceMs,
    nanoCpus: spec.nanoCpus,
    memoryBytes: spec.memoryBytes,
    tty: false,
  };
}

/** This machine in every network. */
export const gatewayAddress = "127.64.0.0";

/** `nth` start of all: makes pids and addresses that are never the same twice. */
function runningFacts({ networks }: Unplaced, nth: number, now: number): Partial<Unplaced> {
  // Loopback: nothing that a test asks of a pod leaves the machine.
  const ipAddress = `127.${64 + ((nth >> 16) & 63)}.${(nth >> 8) & 255}.${nth & 255}`;
  const bridges = Object.keys(networks).filter((name) => !modes.includes(name));
  const connected = bridges.map((name) => [name, { ...networks[name], ipAddress, gateway: gatewayAddress }]);
  return {
    state: "running",
    status: "Up",
    startedAt: now,
    exitCode: undefined,
    oomKilled: false,
    error: "",
    pid: 1_000 + nth,
    addresses: Object.fromEntries(bridges.map((name) => [name, ipAddress])),
    networks: { ...networks, ...Object.fromEntries(connected) },
  };
}

function endedFacts({ networks }: Unplaced, exitCode: number, now: number): Partial<Unplaced> {
  const left = Object.entries(networks).map(([name, network]) => [name, { ...network, ipAddress: "", gateway: "" }]);
  return {
    state: "exited",
    status: `Exited (${exitCode})`,
    finishedAt: now,
    exitCode,
    pid: undefined,
    ports: [],
    addresses: {},
    networks: Object.fromEntries(left),
  };
}
