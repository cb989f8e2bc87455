import type { Facts } from "./here.ts";
import type { Inventory } from "./inventory.ts";
import { sizeText } from "../../backups/core/size.ts";
import { printable } from "../../client/basics/style.ts";

export interface MovePlan {
  to: string;
  /** An earlier move has left data there: only what differs is sent. */
  again: boolean;
  volumes: { name: string; bytes: number; files: number }[];
  images: { id: string; tags: string[]; bytes: number }[];
  state_bytes: number;
  /** What the first copy reads, while all runs. */
  bytes: number;
  containers: number;
  /** From the stop of the first container here until all is ready there. */
  expected_seconds: number;
  /** The longest stop that an app asked for: it may add as much. */
  grace_seconds: number;
  not_moved: string[];
  notes: string[];
  /** Each keeps the move from beginning. */
  problems: string[];
}

interface Sides {
  to: string;
  here: Facts;
  there: Facts;
  has: Inventory;
  /** Kept free on the disks of the new machine. */
  spareBytes: number;
}

export function makePlan({ to, here, there, has, spareBytes }: Sides): MovePlan {
  const missing = new Set(there.missingImages);
  const images = has.images.filter(({ id }) => missing.has(id));
  const sum = (sizes: readonly { bytes: number }[]) => sizes.reduce((total, { bytes }) => total + bytes, 0);
  const [dataBytes, imageBytes] = [sum(has.volumes), sum(images)];
  const room = { docker: dataBytes + imageBytes, root: has.root.bytes, spareBytes };
  return {
    to,
    again: there.parked !== undefined,
    volumes: has.volumes.map(({ name, bytes, files }) => ({ name, bytes, files })),
    images,
    state_bytes: has.root.bytes,
    bytes: dataBytes + imageBytes + has.root.bytes,
    containers: has.containers,
    expected_seconds: expectedSeconds({ containers: has.containers, files: filesOf(has) }),
    grace_seconds: Math.ceil(has.graceMs / 1_000),
    not_moved: notMoved(has),
    notes: notesOf({ here, there, has }),
    problems: [...machineProblems(here, there), ...roomProblems(there, room), ...dataProblems(has)],
  };
}

export const filesOf = ({ volumes, root }: Pick<Inventory, "volumes" | "root">) =>
  volumes.reduce((total, { files }) => total + files, root.files);

/** Files that rsync compares in a second, and containers that stop and start in one: of a small server, on the careful side. */
const filesEachSecond = 10_000;
const containersEachSecond = 2;
/** For the server to stop here, to start there, and for its apps to be seen as ready. */
const baseSeconds = 8;

/** `passMs`: what the last comparison of all files took, where there was one. */
export function expectedSeconds(sizes: { containers: number; files: number; passMs?: number }): number {
  const pass = sizes.passMs === undefined ? sizes.files / filesEachSecond : sizes.passMs / 1_000;
  return Math.ceil(baseSeconds + pass + (2 * sizes.containers) / containersEachSecond);
}

export const notFree = "a server with apps of its own is there, or another one moves there: take a machine without any";

/** Whether a machine may get the data of an installation: its own server has no apps, or it waits and had that data before. */
export function isFree(
  { parked, installation, manifests }: Pick<Facts, "parked" | "installation" | "manifests">,
  moved: string,
): boolean {
  if (parked === undefined) return manifests === 0 && installation !== moved;
  return parked !== "leaving" && installation === moved;
}

function machineProblems(here: Facts, there: Facts): string[] {
  const apt = "apt-get install rsync";
  const isSelf = there.parked === undefined && there.installation === here.installation;
  return [
    ...(here.parked === undefined ? [] : ["the server of this machine does not act: it was moved already"]),
    ...(here.isRoot ? [] : ["berth move needs root here: run it with sudo"]),
    ...(there.isRoot ? [] : ["the user of ssh is not root there: use ssh://root@HOST"]),
    ...(here.hasRsync ? [] : [`rsync is missing here: ${apt}`]),
    ...(there.hasRsync ? [] : [`rsync is missing there: ${apt}`]),
    ...(here.ownDocker && there.ownDocker
      ? []
      : ["Docker runs on another machine, where berth cannot read its volumes"]),
    ...(there.version === here.version
      ? []
      : [`berth is ${there.version} there and ${here.version} here: berth server upgrade on the older one`]),
    ...(there.architecture === here.architecture
      ? []
      : [`the processor is ${there.architecture} there and ${here.architecture} here: images are not the same`]),
    ...(there.prefix === here.prefix
      ? []
      : [
          `the prefix is "${there.prefix}" there and "${here.prefix}" here: berth server install --prefix ${here.prefix}`,
        ]),
    ...(isSelf ? ["that is the server of this machine itself"] : []),
    ...(isSelf || isFree(there, here.installation) ? [] : [notFree]),
  ];
}

function roomProblems(there: Facts, need: { docker: number; root: number; spareBytes: number }): string[] {
  const one = (what: string, bytes: number, free: number) =>
    bytes + need.spareBytes <= free
      ? []
      : [
          `too little room for ${what} there: ${sizeText(bytes)} and ${sizeText(need.spareBytes)} to spare, of ${sizeText(free)} free`,
        ];
  // What an earlier move left there is used again.
  if (there.parked !== undefined) return [];
  if (there.sameDisk) return one("volumes, images and state", need.docker + need.root, there.rootFreeBytes);
  return [
    ...one("volumes and images", need.docker, there.dockerFreeBytes),
    ...one("the state", need.root, there.rootFreeBytes),
  ];
}

function dataProblems({ elsewhere, strangers }: Inventory): string[] {
  return [
    ...elsewhere.map(
      (name) => `the data of volume "${name}" is not in a folder of this machine: it has a driver or options`,
    ),
    ...strangers.map((text) => `a container of another program uses a volume (${text}): stop it first`),
  ];
}

function notMoved({ hostPaths, links }: Inventory): string[] {
  return [
    ...links.map((path) => `${path}: a link to another place, which moves as a link; copy the data by hand`),
    ...hostPaths.map(
      (path) => `${path}: a folder of the machine that a container mounts; copy it by hand if it holds data`,
    ),
    "DNS records and floating addresses: lead them to the new machine when the move is done",
    "firewall, users and packages of the machine",
  ];
}

/** Where the new server has other settings, and what else is worth a look. */
function notesOf({ here, there, has }: Pick<Sides, "here" | "there" | "has">): string[] {
  const others = new Map(there.settings.map(({ flag, value }) => [flag, value]));
  const ofMachine = /(?:root|docker-host|ingress-unit)$/;
  const differ = there.parked === undefined ? here.settings.filter(({ flag }) => !ofMachine.test(flag)) : [];
  return [
    ...differ.flatMap(({ flag, value }) =>
      others.get(flag) === value ? [] : [`setting ${flag} is "${value}" here and "${others.get(flag) ?? ""}" there`],
    ),
    ...there.takenPorts.map((port) => `port ${port} is taken there, and used here: end what listens on it`),
    ...has.targets.map(
      ({ name, folder }) =>
        `backup target "${name}" is a folder of this machine (${folder}): its copies stay here; add a target elsewhere, or move its disk to the same folder there`,
    ),
    ...(has.containers === 0 ? [] : ["runs of jobs and builds that are under way at the switch are cut off"]),
  ];
}

/** For people. */
export function planLines(plan: MovePlan): string[] {
  const { volumes, images, problems } = plan;
  const rows = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [title, ...texts.map((text) => `  ${text}`)];
  return [
    `move to ${plan.to}: ${sizeText(plan.bytes)} in a first copy while all runs, then a switch of about ${plan.expected_seconds} s`,
    ...rows(
      "volumes",
      volumes.map(({ name, bytes, files }) => `${name}  ${sizeText(bytes)}, ${files} files`),
    ),
    ...rows(
      "images that are not there",
      images.map(({ id, tags, bytes }) => `${imageName({ id, tags })}  ${sizeText(bytes)}`),
    ),
    ...rows("state", [
      `manifests, users, keys, certificates, logs, figures, git repositories  ${sizeText(plan.state_bytes)}`,
    ]),
    ...rows("does not move", plan.not_moved),
    ...rows("note", plan.notes),
    ...rows("the switch", [
      `containers that stop here and start there: ${plan.containers}; one that does not end when asked may add up to ${plan.grace_seconds} s`,
      "visitors who still reach this machine get 503 from its ingress",
    ]),
    ...rows("the way back", wayBack),
    ...rows("problems", problems),
  ].map(printable);
}

/** The server keeps images by tags of its own. */
export const imageName = ({ id, tags }: { id: string; tags: readonly string[] }) =>
  tags.find((tag) => !tag.includes("-kept/")) ?? tags[0] ?? id.slice(0, 19);

const wayBack = [
  "until the new server acts: by itself; whatever fails or is killed, this server acts again with all of its data",
  "after that: berth move --undo, here. It stops the new server, and this one acts again with its data as of the switch:",
  "what was written on the new one is lost. To keep that, run berth move --to there: it copies everything back",
];
