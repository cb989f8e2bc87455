import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Layout, layoutOf } from "../../base/disk/layout.ts";
import { Failure } from "../../base/wire/failure.ts";
import { direct } from "../../base/wire/outgoing.ts";
import { serveOptions } from "../../config/config.ts";
import { engineFor } from "../../daemon/engine.ts";
import type { Engine } from "../../orchestration/engine/engine.ts";
import { versionText } from "../../version.ts";
import { askSettings, getJson, isListening, record } from "../probe.ts";
import { thisMachine } from "../server/machine.ts";
import { flagOf, installedWords } from "../server/systemd.ts";
import { type MoveRecord, readArrival, readMove } from "../parked.ts";

/** The server of this machine: its own settings while it answers, those that the move wrote down while it waits. */
export interface Here {
  layout: Layout;
  installation: string;
  prefix: string;
  dockerHost: string;
  /** Why it does not act; undefined where it acts. */
  parked: MoveRecord | undefined;
  manifests: number;
  settings: { flag: string; value: string }[];
}

export function layoutHere(root: string | undefined): Layout {
  return layoutOf(root ?? flagOf(installedWords() ?? [], "root") ?? serveOptions({}).root);
}

/** Fails `unavailable` where no server of this root says what it uses. */
export async function lookHere(layout: Layout): Promise<Here> {
  const parked = readMove(layout);
  if (parked !== undefined) return { layout, ...parked, parked, manifests: 0, settings: [] };
  const settings = await askSettings(layout.socket);
  if (settings === undefined) {
    const arrived = readArrival(layout);
    if (arrived !== undefined) return { layout, ...arrived, parked: undefined, manifests: 0, settings: [] };
    const way = "start it: systemctl start berth; or name its folder with --root";
    throw new Failure("unavailable", `no server answers at ${layout.socket}: ${way}`);
  }
  const system = record((await getJson(`unix://${layout.socket}`, "/system")).data);
  return {
    layout,
    installation: String(system.installation),
    prefix: settings.prefix ?? "berth",
    dockerHost: settings.dockerHost ?? "",
    parked: undefined,
    manifests: Number(record(system.store).manifests),
    settings: (Array.isArray(system.settings) ? system.settings : []) as Here["settings"],
  };
}

export async function withEngine<T>(
  here: Pick<Here, "dockerHost" | "installation" | "prefix">,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = engineFor(here);
  try {
    return await work(engine);
  } finally {
    engine.close();
  }
}

/** What the engine seam has no word for. */
export async function postDocker({ dockerHost }: Pick<Here, "dockerHost">, path: string, body: object): Promise<void> {
  const answer = await direct(`http://localhost${path}`, {
    ...{ unix: dockerHost.replace(/^unix:\/*/, "/"), method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Failure("unavailable", `Docker refused ${path}: ${await answer.text()}`);
}

/** What the plan needs to know of each of the two machines. */
export interface Facts {
  isRoot: boolean;
  version: string;
  root: string;
  installation: string;
  prefix: string;
  parked: MoveRecord["phase"] | undefined;
  manifests: number;
  settings: Here["settings"];
  hasRsync: boolean;
  /** Docker runs on the machine itself, so that its volumes are folders of it. */
  ownDocker: boolean;
  architecture: string;
  dockerVersion: string;
  /** Free space of the disks of the root and of Docker; `sameDisk`: they are one. */
  rootFreeBytes: number;
  dockerFreeBytes: number;
  sameDisk: boolean;
  /** Images that were asked for and are not there. */
  missingImages: string[];
  /** Ports that were asked for and where something listens. */
  takenPorts: number[];
}

export async function factsOf(here: Here, asked: { images: string[]; ports: number[] }): Promise<Facts> {
  const { layout, installation, prefix, parked, manifests, settings } = here;
  return withEngine(here, async (engine) => {
    const info = await engine.info();
    const missing: string[] = [];
    for (const id of asked.images) if ((await engine.inspectImage(id)) === undefined) missing.push(id);
    const taken: number[] = [];
    // Proxy and containers of a server that waits are its own.
    if (parked === undefined)
      for (const port of asked.ports) if (await isListening(`0.0.0.0:${port}`)) taken.push(port);
    const [ofRoot, ofDocker] = [standing(layout.root), standing(info.rootDir)];
    return {
      ...{ isRoot: process.getuid?.() === 0, version: versionText(), root: layout.root, installation, prefix },
      ...{ manifests, settings, parked: parked?.phase, hasRsync: thisMachine.has("rsync") },
      ...{ architecture: info.architecture, dockerVersion: info.version, missingImages: missing, takenPorts: taken },
      ...{ rootFreeBytes: freeBytes(ofRoot), dockerFreeBytes: freeBytes(ofDocker) },
      ownDocker: here.dockerHost.startsWith("unix:"),
      sameDisk: statSync(ofRoot).dev === statSync(ofDocker).dev,
    };
  });
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The folder, or the one above it that is there: Docker may keep its data in a folder that only root sees. */
function standing(folder: string): string {
  return existsSync(folder) || folder === "/" ? folder : standing(dirname(folder));
}
