import type { Naming } from "../core/naming.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Container } from "./container.ts";
import { dial } from "./dial.ts";
import type { Engine } from "./engine.ts";
import { addressIn, identityOf } from "./identity.ts";
import type { Machine } from "./machine.ts";
import type { InspectedPod, ObservedPod, PodEvent, PodRef } from "./pod.ts";
import type { Runtime, RuntimeEvent } from "./runtime.ts";

/** The only machine there is. */
const node = "local";

/** The engine of one machine, which is the one that the server runs on. */
export function createLocalEngine(runtime: Runtime, names: Naming): Engine {
  return {
    ...machineOf(runtime),
    ...lifeOf(runtime),
    ...insideOf(runtime),
    async observe(filter) {
      const rows = await runtime.list(filter);
      return rows.map((row) => seen(row, names));
    },
    async inspect({ id }) {
      const detail = await runtime.inspect(id);
      return detail === undefined ? undefined : (seen(detail, names) satisfies InspectedPod);
    },
    named: (name) => ({ node, id: name }),
    async dial({ id }, port, options) {
      const detail = await runtime.inspect(id);
      if (detail === undefined) throw new Failure("not_found", `no container "${id}"`);
      const { name, state } = detail;
      if (state !== "running") throw new Failure("conflict", `${name} does not run: it is ${state}`);
      const host = addressIn(detail, names);
      if (host === undefined) throw new Failure("conflict", `${name} has no address on the platform network`);
      return dial({ host, port, name, ...options });
    },
    async *events(signal, onOpen) {
      for await (const event of runtime.events(signal, onOpen)) yield told(event, names);
    },
    async usage() {
      const readings = await runtime.usage();
      return readings.map(({ labels, ...figures }) => ({ ...figures, node, identity: identityOf(labels, names) }));
    },
  };
}

/** What is asked about the machine is what its runtime answers. */
function machineOf(runtime: Runtime): Machine {
  return {
    info: () => runtime.info(),
    ping: (signal) => runtime.ping(signal),
    suspend: (why) => runtime.suspend(why),
    resume: () => runtime.resume(),
    ensureNetwork: (name) => runtime.ensureNetwork(name),
    hasNetwork: (name) => runtime.hasNetwork(name),
    networkGateway: (name) => runtime.networkGateway(name),
    networkSubnets: (name) => runtime.networkSubnets(name),
    ensureVolume: (name, labels) => runtime.ensureVolume(name, labels),
    listVolumes: (labels) => runtime.listVolumes(labels),
    inspectVolume: (name) => runtime.inspectVolume(name),
    removeVolume: (name) => runtime.removeVolume(name),
    inspectImage: (refOrId) => runtime.inspectImage(refOrId),
    pull: (ref, auth) => runtime.pull(ref, auth),
    build: (request) => runtime.build(request),
    listImages: () => runtime.listImages(),
    tagImage: (id, ref) => runtime.tagImage(id, ref),
    removeImage: (refOrId) => runtime.removeImage(refOrId),
    portHolders: (bindings) => runtime.portHolders(bindings),
    diskUse: () => runtime.diskUse(),
    pruneBuildCache: () => runtime.pruneBuildCache(),
    freeBytes: () => runtime.freeBytes(),
    hasHostPath: (path) => runtime.hasHostPath(path),
    close: () => runtime.close(),
  };
}

type Life = "create" | "start" | "stop" | "stopGently" | "remove" | "removeUnlessRunning" | "rename";

function lifeOf(runtime: Runtime): Pick<Engine, Life> {
  return {
    async create(spec) {
      return { node, id: await runtime.create(spec) };
    },
    start: ({ id }) => runtime.start(id),
    stop: ({ id }, options) => runtime.stop(id, options),
    async stopGently({ id }) {
      const container = await runtime.inspect(id);
      if (container !== undefined) await runtime.stop(id, { graceMs: container.stopGraceMs });
    },
    remove: ({ id }) => runtime.remove(id),
    removeUnlessRunning: ({ id }) => runtime.removeUnlessRunning(id),
    rename: ({ id }, name) => runtime.rename(id, name),
  };
}

type Inside =
  | "exec"
  | "check"
  | "startAttached"
  | "logs"
  | "logDropped"
  | "wait"
  | "connections"
  | "statFile"
  | "readFiles"
  | "writeFiles"
  | "folderAccess";

function insideOf(runtime: Runtime): Pick<Engine, Inside> {
  return {
    statFile: ({ id }, path) => runtime.statFile(id, path),
    readFiles: ({ id }, path, signal) => runtime.readFiles(id, path, signal),
    writeFiles: ({ id }, files) => runtime.writeFiles(id, files),
    folderAccess: ({ id }, path) => runtime.folderAccess(id, path),
    exec: ({ id }, spec) => runtime.exec(id, spec),
    check: ({ id }, command, signal) => runtime.check(id, command, signal),
    startAttached: ({ id }, options) => runtime.startAttached(id, options),
    logs: ({ id }, options, signal) => runtime.logs(id, options, signal),
    logDropped: ({ id }) => runtime.logDropped(id),
    wait: ({ id }, signal) => runtime.wait(id, signal),
    connections: ({ id }) => runtime.connections(id),
  };
}

/** A container as the controller takes it: where it is, whose it is, and where it is reached. */
function seen<C extends Container>(
  container: C,
  names: Naming,
): C & Pick<ObservedPod, "node" | "identity" | "address"> {
  const { labels } = container;
  return { ...container, node, identity: identityOf(labels, names), address: addressIn(container, names) };
}

function told({ labels, ...event }: RuntimeEvent, names: Naming): PodEvent & PodRef {
  return { ...event, node, identity: identityOf(labels, names) };
}
