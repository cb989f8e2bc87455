import { Failure } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import { readRoot } from "../core/subject.ts";
import { leaveWord, unpackedTimes } from "./drill-database.ts";
import {
  type Case,
  type DrillParts,
  lackOfRoom,
  sizesOf,
  type Tried,
  type TriedPod,
  type TrialStage,
} from "./drill-parts.ts";

/** What drills and rehearsals share: one closed place, in which one of them lives at a time. */
export interface Trials {
  /** Aborts when the server stops. */
  closing: AbortController;
  /** Fails `conflict` while a drill or a rehearsal is under way, or waits for its turn. */
  refuseBusy(): void;
  /** Like `refuseBusy`, and a rehearsal is under way until the returned function is called. */
  beginRehearsal(): () => void;
  /** Runs when nothing else is tried; what it has made is removed before this resolves. */
  alone(work: () => Promise<void>): Promise<void>;
  /** Removes what a killed server has left; whether all of it is gone. */
  tidy(): Promise<boolean>;
  /** The copies of apps in volumes of a new closed place, or why there is no room for them. */
  open(cases: readonly Case[], signal: AbortSignal): Promise<{ refused: string } | Place>;
  /** Starts all replicas of an app, in their order. */
  start(stage: TrialStage, trial: Trial, limit: AbortSignal): Promise<TriedPod[]>;
  /** The same, until all of them are ready. */
  run(stage: TrialStage, trial: Trial, limit: AbortSignal): Promise<Tried>;
  wordsOf(error: unknown): string;
}

interface Trial {
  one: Case;
  given: Pick<Place, "id" | "volumes">;
}

export interface Place {
  id: string;
  /** What takes the place of each volume, and what did not come back. */
  volumes: Map<string, string>;
  faults: Map<string, string>;
  /** Where the data of each of these lies. */
  folders: ReadonlyMap<string, string>;
  sizes: ReadonlyMap<string, number>;
  begunAt: number;
}

export function createTrials(parts: DrillParts): Trials {
  const { stage: room, clock, log } = parts;
  const one = createLimit(1);
  const closing = new AbortController();
  /** Something of a trial may still be there. */
  let isLeft = true;
  let isRehearsing = false;

  const wordsOf = (error: unknown) => {
    if (error instanceof Failure) return error.message;
    log.error("drill failed", { error });
    return "an error of the server itself; its log says more";
  };

  async function clearLeft(): Promise<void> {
    if (!isLeft) return;
    try {
      await room.clear();
      isLeft = false;
    } catch (error) {
      log.warn("drill not removed yet", { error });
    }
  }

  function refuseBusy(): void {
    const busy = parts.drills().find(({ runningSince }) => runningSince !== undefined);
    if (busy !== undefined)
      throw new Failure("conflict", `a drill of ${busy.scope}/${busy.name} is under way; see: berth backup drills`);
    if (isRehearsing) throw new Failure("conflict", "a rehearsal is under way; try again when it has ended");
  }

  async function restored(cases: readonly Case[], id: string, signal: AbortSignal) {
    const [volumes, folders, faults] = [
      new Map<string, string>(),
      new Map<string, string>(),
      new Map<string, string>(),
    ];
    const make = async (live: string) => {
      const { volume, folder } = await room.makeVolume(`${id}.${folders.size}`);
      folders.set(live, folder);
      return { volume, folder };
    };
    for (const copy of cases.flatMap(({ copies }) => copies)) {
      if (volumes.has(copy.volume) || faults.has(copy.volume)) continue;
      try {
        const { volume, folder } = await make(copy.volume);
        const root = readRoot(copy.tags);
        await parts.reading(async () => (await parts.source(copy.target)).restore(copy.id, folder, signal));
        if (root !== undefined) await parts.folders.dress(folder, root);
        volumes.set(copy.volume, volume);
      } catch (error) {
        signal.throwIfAborted();
        faults.set(copy.volume, wordsOf(error));
      }
    }
    for (const fill of cases.flatMap((one) => one.fill ?? [])) {
      if (faults.has(fill.backups)) continue;
      try {
        if (!volumes.has(fill.backups)) volumes.set(fill.backups, (await make(fill.backups)).volume);
        await leaveWord(parts, fill, folders.get(fill.backups) ?? "");
      } catch (error) {
        signal.throwIfAborted();
        faults.set(fill.backups, wordsOf(error));
      }
    }
    return { volumes, folders, faults };
  }

  async function start(stage: TrialStage, { one: { app, replicas }, given }: Trial, limit: AbortSignal) {
    const ordinals = app.kind === "statefulset" ? [...Array(replicas).keys()] : [undefined];
    const { id, volumes } = given;
    const started: TriedPod[] = [];
    for (const ordinal of ordinals) started.push(await stage.start({ key: app, ordinal, id, volumes }, limit));
    return started;
  }

  return {
    ...{ closing, refuseBusy, wordsOf, start },
    beginRehearsal() {
      refuseBusy();
      isRehearsing = true;
      return () => {
        isRehearsing = false;
      };
    },
    alone: (work) => one(() => work().finally(clearLeft)),
    async tidy() {
      await one(clearLeft);
      return !isLeft;
    },
    async open(cases, signal) {
      const sizes = await sizesOf(
        parts,
        cases.flatMap(({ copies }) => copies),
      );
      const memoryBytes = cases.reduce((sum, each) => sum + each.memoryBytes * each.replicas, 0);
      const fills = cases.reduce((sum, { fill }) => sum + (fill?.bytes ?? 0) * unpackedTimes, 0);
      const bytes = [...sizes.values()].reduce((sum, size) => sum + size, fills);
      const refused = await lackOfRoom(parts, { bytes, memoryBytes });
      if (refused !== undefined) return { refused };
      const id = Buffer.from(parts.randomBytes(6)).toString("hex");
      isLeft = true;
      await room.open(id);
      const begunAt = clock.steady();
      return { id, sizes, begunAt, ...(await restored(cases, id, signal)) };
    },
    run: async (stage, trial, limit) => readyAll(await start(stage, trial, limit), limit),
  };
}

/** Until all replicas are ready. Fails with the cause. */
export async function readyAll(started: readonly TriedPod[], limit: AbortSignal): Promise<Tried> {
  const results: Tried[] = [];
  for (const pod of started) results.push(await pod.ready(limit));
  const isStarted = results.some(({ result }) => result === "started");
  return { result: isStarted ? "started" : "proved", watchedMs: Math.max(...results.map((each) => each.watchedMs)) };
}
