import type { Naming } from "../../core/naming.ts";
import type { Engine } from "../engine.ts";
import { createDial } from "../dial.ts";
import { podRef } from "../identity.ts";
import { createAttach } from "./attach.ts";
import { createCheck } from "./check.ts";
import { createConnections } from "./connections.ts";
import { createContainers, type Inspect, inspectContainer } from "./containers.ts";
import { type SystemRoots, systemRoots } from "./cgroup.ts";
import { createDockerClient } from "./client.ts";
import { diskUse, pruneBuildCache } from "./disk.ts";
import { containerEvents } from "./events.ts";
import { createExec } from "./exec.ts";
import { createExitWait } from "./exit-wait.ts";
import { createFiles } from "./files.ts";
import { createImages } from "./images.ts";
import { createFreeBytes, engineInfo, hasHostPath } from "./info.ts";
import { createLogFiles } from "./log-files.ts";
import { createLogs, type OnLogFallback } from "./logs.ts";
import { createNetworks } from "./networks.ts";
import { portHolders } from "./port-holder.ts";
import { createUsage } from "./usage.ts";
import { createVolumeOwners } from "./volume-owner.ts";
import { createVolumes } from "./volumes.ts";

export interface DockerOptions {
  /** `unix:///path` or `tcp://host:port`; anything else fails `invalid`. */
  host: string;
  installationId: string;
  names: Naming;
  timeouts?: Partial<DockerTimeouts>;
  /** Where usage figures are read; other places in tests. */
  roots?: SystemRoots;
  /** Awaited before a container is removed: Docker deletes its output with it. */
  beforeRemoval?: (id: string) => Promise<void>;
  /** Told once for each reason why the logs of containers are not read from Docker's files. */
  onLogFallback?: OnLogFallback;
}

interface DockerTimeouts {
  /** Any call that is not named below. */
  callMs: number;
  /** What `stop` gets beyond the grace of the container. */
  stopSlackMs: number;
  /** Longest silence of a pull. */
  pullIdleMs: number;
  /** Longest silence of the engine while files are read. */
  copyIdleMs: number;
  /** Between SIGHUP and SIGKILL of a command that is ended. */
  execKillGraceMs: number;
  /** How long one `wait` stays open at the engine; after it the state is read again. */
  waitHoldMs: number;
}

const defaults: DockerTimeouts = {
  callMs: 30_000,
  stopSlackMs: 15_000,
  pullIdleMs: 120_000,
  copyIdleMs: 120_000,
  execKillGraceMs: 5_000,
  waitHoldMs: 300_000,
};

/** The `Engine` on a Docker Engine, API 1.41 (Docker 20.10) or newer. Nothing is asked of the engine before the first call. */
export function createDockerEngine(options: DockerOptions): Engine {
  const { host, installationId, names, roots = systemRoots } = options;
  const { callMs, stopSlackMs, pullIdleMs, copyIdleMs, execKillGraceMs, waitHoldMs } = {
    ...defaults,
    ...options.timeouts,
  };
  const engine = createDockerClient(host, callMs);
  const owner = { names, installationId };
  const files = createFiles(engine, copyIdleMs);
  const ownVolumes = createVolumeOwners(engine, owner, files);
  const inspect: Inspect = (nameOrId) => inspectContainer(engine, names, nameOrId);
  const containers = createContainers(engine, owner, {
    inspect,
    stopSlackMs,
    ownVolumes,
    beforeRemoval: options.beforeRemoval ?? (async () => undefined),
  });
  const exitWait = createExitWait({ engine, inspect, holdMs: waitHoldMs });
  const exec = createExec({ engine, names, inspect, startMs: callMs, killGraceMs: execKillGraceMs });
  return {
    info: () => engineInfo(engine),
    ping: engine.ping,
    suspend: engine.suspend,
    resume: engine.resume,
    named: podRef,
    ...containers,
    ...createDial(containers.inspect),
    ...createNetworks(engine, owner),
    ...createVolumes(engine, owner),
    ...createImages(engine, pullIdleMs),
    events: (signal, onOpen) => containerEvents(engine, owner, { signal, onOpen }),
    ...exec,
    ...createCheck(exec),
    ...createLogs(engine, inspect, options.onLogFallback),
    ...createLogFiles(engine),
    ...createAttach({ engine, inspect, containers, wait: exitWait.wait }),
    ...exitWait,
    ...createUsage({ engine, owner, inspect, roots }),
    ...files,
    ...createConnections({ engine, inspect, roots }),
    portHolders: (bindings) => portHolders(engine, bindings),
    diskUse: () => diskUse(engine, async () => (await engineInfo(engine)).rootDir),
    pruneBuildCache: () => pruneBuildCache(engine),
    freeBytes: createFreeBytes(engine),
    hasHostPath: (path) => hasHostPath(engine, path),
    close: () => engine.close(),
  };
}
