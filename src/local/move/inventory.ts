import { join } from "node:path";
import { withDatabase } from "../../base/sqlite/database.ts";
import { naming } from "../../orchestration/core/naming.ts";
import type { Engine } from "../../orchestration/engine/engine.ts";
import { createImages } from "../../orchestration/store/images.ts";
import { askIngress, getJson, record } from "../probe.ts";
import { must, thisMachine } from "../server/machine.ts";
import { type Here, withEngine } from "./here.ts";

/** What a server has that another machine needs to act in its place. */
export interface Inventory {
  volumes: MovedVolume[];
  /** Volumes whose data is not in a folder of this machine. */
  elsewhere: string[];
  images: { id: string; bytes: number; tags: string[] }[];
  root: Size;
  containers: number;
  /** The longest time that a container may take to stop. */
  graceMs: number;
  /** Paths of the machine that containers mount, outside of volumes and of the root. */
  hostPaths: string[];
  /** Targets of backups that are folders of this machine. */
  targets: { name: string; folder: string }[];
  /** Links in the root to other places: such as of an administrator who gave a part of it another disk. */
  links: string[];
  /** Fixed ports of the machine: those of containers, and of the ingress where it serves. */
  ports: number[];
  /** Containers that are not of this server and mount a volume of it: `volume: container`. */
  strangers: string[];
}

interface Size {
  bytes: number;
  files: number;
}

export interface FoundVolume {
  name: string;
  labels: Record<string, string>;
  folder: string;
}

type MovedVolume = FoundVolume & Size;

export async function takeInventory(here: Here): Promise<Inventory> {
  return withEngine(here, async (engine) => {
    const { volumes: found, elsewhere, strangers, inspected } = await findVolumes(engine, here);
    const volumes: MovedVolume[] = [];
    for (const volume of found) volumes.push({ ...volume, ...(await sizeOf(volume.folder)) });
    const running = inspected.filter(({ state }) => state === "running");
    const published = running.flatMap(({ ports }) => ports.map(({ hostPort }) => Number(hostPort)));
    return {
      ...{ volumes, elsewhere, strangers, images: await findImages(engine, here) },
      root: await sizeOf(here.layout.root, rootExcludes),
      links: await linksIn(here.layout.root),
      targets: await targetsIn(here),
      containers: running.length,
      graceMs: Math.max(0, ...running.map(({ stopGraceMs }) => stopGraceMs)),
      hostPaths: hostPathsOf(
        inspected.flatMap(({ mounts }) => mounts),
        here.layout.root,
      ),
      ports: [...new Set([...published, ...(await ingressPorts(here))])].filter((port) => port > 0),
    };
  });
}

/** Volumes of the installation, and those that its containers mount. */
export async function findVolumes(engine: Engine, { prefix, installation }: Here) {
  const pods = (await engine.observe()).filter(({ state }) => state !== "dead" && state !== "removing");
  const inspected = (await Promise.all(pods.map((pod) => engine.inspect(pod)))).flatMap((pod) => pod ?? []);
  const mounts = inspected.flatMap((pod) => pod.mounts.filter(({ type }) => type === "volume"));
  const owned = await engine.listVolumes({ [naming(prefix).label.installation]: installation });
  const names = [...new Set([...owned.map(({ name }) => name), ...mounts.map(({ source }) => source)])].toSorted();
  const volumes: FoundVolume[] = [];
  const [elsewhere, strangers]: [string[], string[]] = [[], []];
  const ours = new Set(pods.map(({ id }) => id));
  for (const name of names) {
    const found = await engine.inspectVolume(name);
    if (found?.mountpoint === undefined) elsewhere.push(name);
    else volumes.push({ name, labels: found.labels, folder: found.mountpoint });
    for (const user of await engine.volumeUsers(name))
      if (!ours.has(user.id) && user.state === "running") strangers.push(`${name}: ${user.name}`);
  }
  return { volumes, elsewhere, strangers, inspected };
}

/** Images that replicas are made from, now or after a rollback. */
export async function findImages(engine: Engine, { layout }: Here): Promise<Inventory["images"]> {
  const images: Inventory["images"] = [];
  for (const id of withDatabase(layout.database, (db) => [...createImages(db, 0).images.kept()])) {
    const found = await engine.inspectImage(id);
    if (found !== undefined) images.push({ id, bytes: found.sizeBytes, tags: found.tags });
  }
  return images;
}

/** What of a root does not move, as patterns of rsync: what is of this machine and this process alone, or made by each server. */
export const rootExcludes = [
  "/run",
  "/life.json",
  "/move.json",
  "/move.json.arrived",
  "/copies",
  "/upgrades",
  "/ingress/haproxy.cfg",
  "/*-shm",
];

function hostPathsOf(mounts: readonly { type: string; source: string }[], root: string): string[] {
  const own = (path: string) => path === root || path.startsWith(`${root}/`);
  const paths = mounts.filter(({ type, source }) => type === "bind" && !own(source)).map(({ source }) => source);
  return [...new Set(paths)].toSorted();
}

/** Where the server that acts here says that its copies go; none where it waits. */
async function targetsIn({ layout }: Here): Promise<Inventory["targets"]> {
  const answer = await getJson(`unix://${layout.socket}`, "/backups/targets").catch(() => ({ data: undefined }));
  const { targets } = record(answer.data);
  const all = (Array.isArray(targets) ? targets : []).map(record);
  return all.flatMap(({ name, url }) =>
    String(url).startsWith("/") ? [{ name: String(name), folder: String(url) }] : [],
  );
}

export async function linksIn(root: string): Promise<string[]> {
  const links = "-mindepth 1 -maxdepth 3 -type l -lname /* ! -lname".split(" ");
  const said = await must(thisMachine, ["find", "-H", root, ...links, `${root}/*`, "!", "-path", `${root}/run/*`]);
  return said.split("\n").filter((path) => path !== "");
}

/** As much as it takes on a disk: holes of sparse files do not count, hard links once. */
async function sizeOf(folder: string, excludes: readonly string[] = []): Promise<Size> {
  const without = excludes.map((pattern) => `--exclude=${pattern.startsWith("/") ? join(folder, pattern) : pattern}`);
  const du = async (unit: string) =>
    Number((await must(thisMachine, ["du", "-sD", unit, ...without, folder])).split("\t")[0]);
  return { bytes: await du("-B1"), files: await du("--inodes") };
}

/** Where HAProxy listens for visitors, if it does: a server without ingresses starts none. */
async function ingressPorts({ layout, settings }: Here): Promise<number[]> {
  if ((await askIngress(layout.socket))?.state !== "running") return [];
  const addresses = settings.filter(({ flag }) => /^(?:--)?ingress-https?-addr$/.test(flag)).map(({ value }) => value);
  return addresses.map((address) => Number(address.slice(address.lastIndexOf(":") + 1)));
}
