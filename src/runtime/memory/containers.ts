import { Failure, type FailureReason } from "../../api/failure.ts";
import type { ContainerSpec } from "../../core/workload.ts";
import { containerLabels, type Owner } from "../ownership.ts";
import type { ContainerDetail } from "../runtime.ts";
import type { ContainerTable, Entry } from "./container-table.ts";
import type { EventHub } from "./event-hub.ts";
import type { ImageShelf } from "./images.ts";
import { createPortTable } from "./ports.ts";
import type { Resources } from "./resources.ts";

export interface Parts {
  owner: Owner;
  table: ContainerTable;
  images: ImageShelf;
  resources: Resources;
  hub: EventHub;
  now: () => number;
}

/** What an engine does with containers, at once and without faults. Missing containers fail `not_found`. */
export interface Machine {
  create(spec: ContainerSpec): string;
  start(nameOrId: string): void;
  stop(nameOrId: string): void;
  /** The main process ends. By hand (stop, kill) the restart policy does not apply. */
  die(nameOrId: string, how: { exitCode: number; byHand: boolean; oomKilled?: boolean }): void;
  remove(nameOrId: string): void;
  rename(nameOrId: string, name: string): void;
}

export function createMachine(parts: Parts): Machine {
  const { table, resources } = parts;
  const ports = createPortTable();
  let made = 0;
  let started = 0;

  const entryOf = (nameOrId: string) => {
    const entry = table.get(nameOrId);
    if (entry === undefined) throw new Failure("not_found", `container "${nameOrId}" does not exist`);
    return entry;
  };

  const update = ({ spec, detail }: Entry, change: Partial<ContainerDetail>) =>
    table.put(spec, { ...detail, ...change });

  const publish = (action: string, { detail }: Entry, exitCode?: number) => {
    const { id, name, labels } = detail;
    parts.hub.publish({ action, id, name, labels, exitCode, at: parts.now() });
  };

  const refuse = (entry: Entry, words: string, reason: FailureReason) => {
    update(entry, { error: words });
    throw new Failure("conflict", `cannot start container "${entry.detail.name}": ${words}`, { reason });
  };

  const start = (nameOrId: string) => {
    const entry = entryOf(nameOrId);
    const { spec, detail } = entry;
    if (detail.state === "running") return;
    for (const { name } of joined(spec)) {
      if (!resources.hasNetwork(name)) refuse(entry, `network ${name} not found`, "StartFailed");
    }
    const published = ports.claim(detail.id, spec.networkMode === "bridge" ? spec.ports : []);
    if ("taken" in published) return refuse(entry, `host port ${published.taken} is already allocated`, "PortTaken");
    started += 1;
    publish("start", update(entry, { ...runningFacts(detail, started, parts.now()), ports: published }));
  };

  const end = (entry: Entry, exitCode: number, oomKilled: boolean) => {
    ports.release(entry.detail.id);
    const ended = update(entry, { ...endedFacts(entry.detail, exitCode, parts.now()), oomKilled });
    if (oomKilled) publish("oom", ended);
    publish("die", ended, exitCode);
    return ended;
  };

  return {
    create: (spec) => {
      const image = parts.images.find(spec.image);
      const words = `cannot create container "${spec.name}"`;
      if (image === undefined)
        throw new Failure("conflict", `${words}: no such image: ${spec.image}`, { reason: "ImageMissing" });
      if (table.has(spec.name))
        throw new Failure("conflict", `${words}: the name is already in use`, { reason: "NameTaken" });
      for (const { type, source } of spec.mounts) if (type === "volume") resources.mountVolume(source);
      made += 1;
      const id = made.toString(16).padStart(12, "0").padEnd(64, "0");
      const labels = containerLabels(parts.owner, spec);
      const env = { ...image.env, ...spec.env };
      publish(
        "create",
        table.put(spec, createdDetail(spec, { id, labels, env, imageId: image.id, createdAt: parts.now() })),
      );
      return id;
    },
    start,
    stop: (nameOrId) => {
      const entry = entryOf(nameOrId);
      if (entry.detail.state !== "running") return;
      publish("kill", entry);
      publish("stop", end(entry, 143, false));
    },
    die: (nameOrId, { exitCode, byHand, oomKilled = false }) => {
      const entry = entryOf(nameOrId);
      if (entry.detail.state !== "running") return;
      if (byHand) publish("kill", entry);
      const ended = end(entry, exitCode, oomKilled);
      if (byHand || !restarts(entry, exitCode)) return;
      update(ended, { restartCount: ended.detail.restartCount + 1 });
      start(nameOrId);
    },
    remove: (nameOrId) => {
      const entry = table.get(nameOrId);
      if (entry === undefined) return;
      if (entry.detail.state === "running") {
        publish("kill", entry);
        end(entry, 137, false);
      }
      table.delete(entry.detail.id);
      publish("destroy", entry);
    },
    rename: (nameOrId, name) => {
      const entry = entryOf(nameOrId);
      if (table.has(name)) {
        const message = `cannot rename container "${nameOrId}": the name "${name}" is already in use`;
        throw new Failure("conflict", message, { reason: "NameTaken" });
      }
      publish("rename", update(entry, { name }));
    },
  };
}

const joined = (spec: ContainerSpec) => (spec.networkMode === "bridge" ? spec.networks : []);

function restarts({ spec, detail }: Entry, exitCode: number): boolean {
  const { name, maximumRetryCount } = spec.restart;
  if (name !== "on-failure") return name !== "no";
  return exitCode !== 0 && (maximumRetryCount === 0 || detail.restartCount < maximumRetryCount);
}

type Made = Pick<ContainerDetail, "id" | "labels" | "env" | "imageId" | "createdAt">;

function createdDetail(spec: ContainerSpec, made: Made): ContainerDetail {
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
    networks: Object.fromEntries(
      joined(spec).map(({ name, aliases }) => [name, { networkId: name, ipAddress: "", gateway: "", aliases }]),
    ),
    mounts: spec.mounts.map(({ type, source, target, readOnly }) => {
      return { type, source, destination: target, mode: readOnly ? "ro" : "", rw: !readOnly };
    }),
    ports: [],
    restartPolicy: spec.restart.name,
    nanoCpus: spec.nanoCpus,
    memoryBytes: spec.memoryBytes,
    tty: false,
  };
}

/** `nth` start of all: makes pids and addresses that are never the same twice. */
function runningFacts({ networks }: ContainerDetail, nth: number, now: number): Partial<ContainerDetail> {
  const ipAddress = `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`;
  const connected = Object.entries(networks).map(([name, network]) => [
    name,
    { ...network, ipAddress, gateway: "10.0.0.0" },
  ]);
  return {
    state: "running",
    status: "Up",
    startedAt: now,
    exitCode: undefined,
    oomKilled: false,
    error: "",
    pid: 1_000 + nth,
    networks: Object.fromEntries(connected),
  };
}

function endedFacts({ networks }: ContainerDetail, exitCode: number, now: number): Partial<ContainerDetail> {
  const left = Object.entries(networks).map(([name, network]) => [name, { ...network, ipAddress: "", gateway: "" }]);
  return {
    state: "exited",
    status: `Exited (${exitCode})`,
    finishedAt: now,
    exitCode,
    pid: undefined,
    ports: [],
    networks: Object.fromEntries(left),
  };
}
