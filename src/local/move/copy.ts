import { statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { secondsText } from "../../base/pure/duration.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import { backupLimits } from "../../config/backup-limits.ts";
import { must, thisMachine } from "../server/machine.ts";
import type { Far } from "./far.ts";
import { type Facts, type Here, withEngine } from "./here.ts";
import { findImages, findVolumes, type FoundVolume, type Inventory, rootExcludes } from "./inventory.ts";
import { imageName, type MovePlan } from "./plan.ts";

export interface CopyRoom {
  here: Here;
  far: Far;
  has: Inventory;
  say(line: string): void;
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
  const since = Date.now() - backupLimits.writebackMs;
  const { installation } = here;
  const peer = await peerName();
  await clearLeft(here);
  const place = await far.ask<Record<"root" | "images", string>>("arrive", { peer, installation });
  const pairsOf = async (volumes: readonly FoundVolume[]) => {
    const folders = await far.ask<Record<string, string>>("volumes", volumes);
    return [...volumes.map((volume) => pairOf(volume, folders)), { ...ofRoot, from: here.layout.root, to: place.root }];
  };
  const pairs = await pairsOf(has.volumes);
  await sendImages(room, plan.images, place.images);
  for (const { what, from, to, words } of pairs) {
    const startedAt = performance.now();
    // What an earlier move has left there may have the size and time of what is here, and be older.
    await far.mirror(from, to, plan.again ? [...words, "--ignore-times"] : words);
    say(`copied ${what} in ${secondsText(performance.now() - startedAt)}`);
  }
  return {
    async pass() {
      const startedAt = performance.now();
      await each(pairs, ({ from, to, words }) => far.mirror(from, to, words));
      return performance.now() - startedAt;
    },
    async lastPass() {
      // Apps may have come and gone since the plan.
      const { volumes, images } = await nowOf(here);
      const asked = { images: images.map(({ id }) => id), ports: [] };
      const missing = new Set((await far.ask<Facts>("look", asked)).missingImages);
      await each(await pairsOf(volumes), async ({ from, to, words, isVolume }) => {
        if (isVolume) await compareChanged(room, { from, to, since });
        await far.mirror(from, to, words);
      });
      await sendImages(
        room,
        images.filter(({ id }) => missing.has(id)),
        place.images,
      );
    },
  };
}

/** A few at a time: most of a comparison of little is waiting, and sshd takes ten at once. */
async function each<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const some = createLimit(4);
  const ends = await Promise.allSettled(list.map((one) => some(() => work(one))));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Fails `conflict` where data could not be copied whole. */
async function nowOf(here: Here) {
  return withEngine(here, async (engine) => {
    const { volumes, elsewhere, strangers } = await findVolumes(engine, here);
    const [first] = [...elsewhere, ...strangers];
    if (first !== undefined) throw new Failure("conflict", `there is a volume now that cannot be copied (${first})`);
    return { volumes, images: await findImages(engine, here) };
  });
}

export async function peerName(): Promise<string> {
  return (await must(thisMachine, ["hostname"])).trim();
}

const ofRoot = { what: "the state", words: rootExcludes.map((pattern) => `--exclude=${pattern}`), isVolume: false };

function pairOf({ name, folder }: FoundVolume, folders: Record<string, string>) {
  return { what: `volume ${name}`, from: folder, to: folders[name] ?? "", words: [], isVolume: true };
}

/**
 * A program that writes to a mapped file changes it without a new time, as long as the kernel has not written the page back,
 * and one may set an old time. So what has changed since shortly before the first copy may differ from its copy with the same
 * time and size.
 */
async function compareChanged(
  { here, far }: CopyRoom,
  { from, to, since }: { from: string; to: string; since: number },
): Promise<void> {
  await inWorkFolder(here, async (folder) => {
    const list = join(folder, "changed");
    // Written by find itself: names are bytes, and need not be UTF-8.
    const fresh = ["-type", "f", "-newerct", `@${Math.floor(since / 1_000)}`, "-fprintf", list, "%P\\0"];
    await must(thisMachine, ["find", "-H", from, ...fresh]);
    if (statSync(list).size > 0) await far.compare(from, to, list);
  });
}

const workName = "move-out.";

/** Left by a move that was killed. */
async function clearLeft({ layout }: Here): Promise<void> {
  const names = await readdir(layout.copies).catch(() => []);
  for (const name of names)
    if (name.startsWith(workName)) await rm(join(layout.copies, name), { recursive: true, force: true });
}

async function inWorkFolder<T>({ layout }: Here, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(layout.copies, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(layout.copies, workName));
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
