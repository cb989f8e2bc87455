import type { Naming } from "../../core/naming.ts";
import type { Runtime } from "../runtime.ts";
import { createContainers } from "./containers.ts";
import { createEngine } from "./engine.ts";
import { containerEvents } from "./events.ts";
import { createImages } from "./images.ts";
import { engineInfo, freeBytes } from "./info.ts";
import { createNetworks } from "./networks.ts";
import { createVolumes } from "./volumes.ts";

export interface DockerOptions {
  /** `unix:///path` or `tcp://host:port`; anything else fails `invalid`. */
  host: string;
  installationId: string;
  names: Naming;
  timeouts?: Partial<DockerTimeouts>;
}

export interface DockerTimeouts {
  /** Any call that is not named below. */
  callMs: number;
  /** What `stop` gets beyond the grace of the container. */
  stopSlackMs: number;
  /** Longest silence of a pull. */
  pullIdleMs: number;
}

const defaults: DockerTimeouts = { callMs: 30_000, stopSlackMs: 15_000, pullIdleMs: 120_000 };

/** The `Runtime` on a Docker Engine, API 1.41 (Docker 20.10) or newer. Nothing is asked of the engine before the first call. */
export function createDockerRuntime({ host, installationId, names, timeouts }: DockerOptions): Runtime {
  const { callMs, stopSlackMs, pullIdleMs } = { ...defaults, ...timeouts };
  const engine = createEngine(host, callMs);
  const owner = { names, installationId };
  return {
    info: () => engineInfo(engine),
    ...createContainers(engine, owner, stopSlackMs),
    ...createNetworks(engine, owner),
    ...createVolumes(engine, owner),
    ...createImages(engine, pullIdleMs),
    events: (signal, onOpen) => containerEvents(engine, owner, { signal, onOpen }),
    freeBytes: () => freeBytes(engine),
    close: () => engine.close(),
  };
}
