import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { serverLimits } from "../../config/server-limits.ts";
import { must, thisMachine } from "../server/machine.ts";
import type { Far } from "./far.ts";
import { type Here, withEngine } from "./here.ts";
import { type Inventory, rootExcludes } from "./inventory.ts";
import { imageName, type MovePlan } from "./plan.ts";

export interface CopyRoom {
  here: Here;
  far: Far;
  has: Inventory;
  say(line: string): void;
}

/** Where everything goes on the other machine. */
interface Places {
  root: string;
  volumes: Record<string, string>;
}

export interface Copies {
  /** Sends what differs, while all runs; answers with how long that took, in milliseconds. */
  pass(): Promise<number>;
  /** The same where nothing writes any more. What was written since the first copy began is compared by content. */
  lastPass(): Promise<void>;
}

/** The first copy, while all runs. */
export async function copyFirst(room: CopyRoom, plan: MovePlan): Promise<Copies> {
  const { here, far, has, say } = room;
  const since = Date.now() - serverLimits.writebackMs;
  const { installation } = here;
  const peer = await peerName();
  const { root, images } = await far.ask<Record<"root" | "images", string>>("arrive", { peer, installation });
  const volumes = await far.ask<Places["volumes"]>("volumes", has.volumes);
  await sendImages(room, plan.images, images);
  const places = { root, volumes };
  for (const one of pairsOf(room, places)) {
    const startedAt = performance.now();
    await far.mirror(one.from, one.to, one.words);
    say(`copied ${one.what} in ${seconds(performance.now() - startedAt)}`);
  }
  return {
    async pass() {
      const startedAt = performance.now();
      for (const { from, to, words } of pairsOf(room, places)) await far.mirror(from, to, words);
      return performance.now() - startedAt;
    },
    async lastPass() {
      for (const { from, to, words, isVolume } of pairsOf(room, places)) {
        if (isVolume) await compareChanged(room, { from, to, since });
        await far.mirror(from, to, words);
      }
    },
  };
}

export const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

export async function peerName(): Promise<string> {
  return (await must(thisMachine, ["hostname"])).trim();
}

/** Volumes one after the other, then the root, which changes the least. */
function pairsOf({ here, has }: CopyRoom, { root, volumes }: Places) {
  const ofVolumes = has.volumes.map(({ name, folder }) => {
    return { what: `volume ${name}`, from: folder, to: volumes[name] ?? "", words: [] as string[], isVolume: true };
  });
  const words = rootExcludes.map((pattern) => `--exclude=${pattern}`);
  return [...ofVolumes, { what: "the state", from: here.layout.root, to: root, words, isVolume: false }];
}

/**
 * A program that writes to a mapped file changes it without a new time, as long as the kernel has not written the page back.
 * So what has a time since shortly before the first copy may differ from its copy with the same time and size.
 */
async function compareChanged(
  { here, far }: CopyRoom,
  { from, to, since }: { from: string; to: string; since: number },
): Promise<void> {
  const find = ["find", from, "-type", "f", "-newermt", `@${Math.floor(since / 1_000)}`, "-printf", "%P\\0"];
  const names = await must(thisMachine, find);
  if (names === "") return;
  const list = join(workFolder(here), "changed");
  await inWorkFolder(here, async () => {
    await writeFile(list, names, { mode: 0o600 });
    await far.compare(from, to, list);
  });
}

const workFolder = ({ layout }: Here) => join(layout.copies, "move-out");

async function inWorkFolder<T>(here: Here, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = workFolder(here);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Also those that a registry holds: the switch would have to wait for them. */
async function sendImages({ here, far, say }: CopyRoom, images: MovePlan["images"], to: string): Promise<void> {
  await withEngine(here, async (engine) => {
    for (const { id, tags } of images) {
      await inWorkFolder(here, async (folder) => {
        await engine.saveImage(id, join(folder, "image.tar"));
        await far.mirror(folder, to);
      });
      await far.ask("load", { id, tags });
      say(`copied image ${imageName({ id, tags })}`);
    }
  });
}
