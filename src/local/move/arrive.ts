import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeLifeFile } from "../../base/disk/life-file.ts";
import type { StoredLife } from "../../backups/service/life.ts";
import { Failure } from "../../base/wire/failure.ts";
import { naming } from "../../orchestration/core/naming.ts";
import { confirmRestore, holdActions } from "../../orchestration/store/copy.ts";
import { type Facts, factsOf, type Here, lookHere, postDocker, withEngine } from "./here.ts";
import type { FoundVolume } from "./inventory.ts";
import { answersSoon, park, readyApps, stopContainers } from "./switch.ts";
import { endArrival, type MoveRecord, parkedText, writeMove } from "../parked.ts";
import { isFree, notFree } from "./plan.ts";
import { layoutHere } from "./here.ts";

/** What a move asks the other machine for, by the word of `berth move here WORD`. */
interface FarWords {
  look: [asked: { images: string[]; ports: number[] }, facts: Facts];
  /** The server there waits from now on, for the data of this installation. */
  arrive: [of: { peer: string; installation: string }, place: { root: string; images: string }];
  volumes: [volumes: Pick<FoundVolume, "name" | "labels">[], folders: Record<string, string>];
  load: [image: { id: string; tags: string[] }, nothing: object];
  /** The server there acts, and holds what it does by itself. */
  act: [as: { generation: number }, nothing: object];
  apps: [nothing: object, ready: string[]];
  confirm: [nothing: object, nothing: object];
  /** The server there acts no more. */
  back: [to: { peer: string; installation: string }, nothing: object];
}

type Handlers = { [W in keyof FarWords]: (here: Here, input: FarWords[W][0]) => Promise<FarWords[W][1]> };

const handlers: Handlers = {
  look: factsOf,
  async arrive(here, { peer, installation }) {
    const { layout, prefix, dockerHost, parked } = here;
    // Much may have happened since the plan was shown: what is here is not overwritten for that.
    if (!isFree({ ...here, parked: parked?.phase }, installation))
      throw new Failure("conflict", `${notFree}; nothing was changed there`);
    const known = { returns: parked?.phase === "moved" || parked?.returns, brought: parked?.brought };
    await park(layout, { phase: "arriving", peer, at: Date.now(), installation, prefix, dockerHost, ...known });
    const images = imageFolder(here);
    await rm(images, { recursive: true, force: true });
    await mkdir(images, { recursive: true, mode: 0o700 });
    return { root: layout.root, images };
  },
  volumes: (here, volumes) =>
    withEngine(here, async (engine) => {
      const parked = arriving(here);
      const { installation } = naming(here.prefix).label;
      const brought = new Set(parked.brought);
      const folders: Record<string, string> = {};
      for (const { name, labels } of volumes) {
        const present = await engine.inspectVolume(name);
        // One without an owner may be of any program there.
        const isOurs = labels[installation] !== undefined || parked.returns || brought.has(name);
        if (
          present &&
          (present.labels[installation] !== labels[installation] || !(isOurs || isEmpty(present.mountpoint)))
        )
          throw new Failure("conflict", `volume "${name}" is there already and of another owner: remove or rename it`);
        // The seam would give it the labels of an owner, which an external volume does not have.
        if (present === undefined) await postDocker(here, "/volumes/create", { Name: name, Labels: labels });
        const folder = (await engine.inspectVolume(name))?.mountpoint;
        if (folder === undefined)
          throw new Failure("conflict", `the data of volume "${name}" is not in a folder there`);
        folders[name] = folder;
        if (labels[installation] === undefined) brought.add(name);
      }
      await writeMove(here.layout, { ...parked, brought: [...brought] });
      return folders;
    }),
  load: (here, { id, tags }) =>
    withEngine(here, async (engine) => {
      arriving(here);
      const file = join(imageFolder(here), "image.tar");
      await engine.loadImage(file);
      await rm(file, { force: true });
      for (const tag of tags) if ((await engine.inspectImage(tag)) === undefined) await engine.tagImage(id, tag);
      return {};
    }),
  async act(here, { generation }) {
    arriving(here);
    const { layout } = here;
    holdActions(layout.database);
    await writeLifeFile<StoredLife>(layout, { life: randomBytes(8).toString("hex"), number: generation });
    await rm(imageFolder({ layout }), { recursive: true, force: true });
    await endArrival(layout);
    if (await answersSoon(layout)) return {};
    throw new Failure("unavailable", "the server there does not answer; see there: journalctl -u berth");
  },
  apps: ({ layout }) => readyApps(layout),
  async confirm({ layout }) {
    confirmRestore(layout.database);
    return {};
  },
  async back(here, { peer, installation }) {
    const { layout, prefix, dockerHost, parked } = here;
    const way = "if nothing of this server acts any more: berth move --undo --force";
    if (here.installation !== installation)
      throw new Failure("conflict", `the server there is another one, and was not stopped; ${way}`);
    // What acts is then a third machine, which this does not reach.
    if (parked !== undefined && parked.phase !== "arriving")
      throw new Failure("conflict", `there, berth says: ${parkedText(parked)}; bring it back from there first; ${way}`);
    // It can only be the end of a later move that makes this server act again.
    const record = { phase: "arriving", peer, at: Date.now(), installation, prefix, dockerHost } as const;
    await park(layout, { ...record, returns: true });
    await stopContainers(here);
    return {};
  },
};

/** The record of what is on its way here. */
function arriving({ parked }: Here): MoveRecord {
  if (parked?.phase === "arriving") return parked;
  throw new Failure("conflict", "nothing is on its way to this server");
}

const isEmpty = (folder: string | undefined) => folder !== undefined && readdirSync(folder).length === 0;

const imageFolder = ({ layout }: Pick<Here, "layout">) => join(layout.copies, "move");

/** `berth move here WORD`: what the machine that moves asks this one, over ssh. Input and answer are JSON. */
export async function answerMover(word: string, read: () => Promise<string>, root?: string): Promise<unknown> {
  const handler = Object.hasOwn(handlers, word) ? handlers[word as keyof FarWords] : undefined;
  if (handler === undefined)
    throw new Failure("invalid", `unknown word "${word}": berth move runs this itself, over ssh`);
  const layout = layoutHere(root);
  const input = readInput(await read());
  return (handler as (here: Here, input: unknown) => Promise<unknown>)(await lookHere(layout), input);
}

function readInput(text: string): object {
  try {
    const input: unknown = JSON.parse(text || "{}");
    if (typeof input === "object" && input !== null) return input;
  } catch {
    // Said below.
  }
  throw new Failure("invalid", "the input is not JSON: berth move runs this itself, over ssh");
}
