import { isoTime } from "../../base/pure/iso-time.ts";
import type { Clock } from "../../base/words/clock.ts";
import { comesAfter, type Generation } from "../core/generation.ts";

/** What a root knows of its place among servers of one installation. Copies do not hold it: a copy is not the server. */
export interface StoredLife extends Generation {
  /** When it took the place of another server, epoch milliseconds: that one needs a moment to see it. */
  takenOverAt?: number | undefined;
  /** The server that took this one's place, and where that was seen. */
  replaced?: (Generation & { at: number; target: string }) | undefined;
  /** The other server had locked the target: it cannot see yet that this one takes its place. */
  unseen?: boolean | undefined;
  /** Restored to practise: it acts only after berth backup take-over. */
  practice?: boolean | undefined;
}

export interface Life {
  stored(): StoredLife | undefined;
  /** Why this server does nothing by itself; undefined where it acts. */
  heldBy(): string | undefined;
  /** See `Gate`. */
  actsSince(): number;
  /** While the first look at the targets is under way, it is not known whether another server acts. */
  expectLook(is: boolean): void;
  /** What `askAgain` does. */
  onAsk(ask: () => Promise<void>): void;
  /** Asks the targets again, where nothing was heard from them for long. */
  askAgain(): Promise<void>;
  /** As another process of this machine has left it. */
  read(): void;
  write(life: StoredLife): Promise<void>;
}

interface LifeOptions {
  /** The file, which is in the root; undefined where there is none or it is damaged. */
  read(): StoredLife | undefined;
  write(life: StoredLife): Promise<void>;
  clock: Pick<Clock, "now">;
  /** See `backupLimits`. */
  handoverMs: number;
}

const wayOut = "to let this server act and the other one wait: berth backup take-over";

export function createLife({ read, write, clock, handoverMs }: LifeOptions): Life {
  let life = read();
  let isLooking = false;
  let ask: () => Promise<void> = () => Promise.resolve();

  function isHandingOver(): boolean {
    const sinceMs = clock.now() - (life?.takenOverAt ?? -Infinity);
    return sinceMs >= 0 && sinceMs < handoverMs;
  }

  return {
    stored: () => life,
    heldBy() {
      if (life?.practice) return `this state was restored to practise, and another server acts; ${wayOut}`;
      if (life?.replaced) {
        const { target, at } = life.replaced;
        return `another server took this one's place at ${isoTime(at)}, says the target ${target}; ${wayOut}`;
      }
      if (life?.unseen)
        return `the server whose place this one takes has locked the target, so that it cannot see that; this one acts once it has written its generation there; ${wayOut}`;
      if (isLooking) return "the targets of the backups are asked whether another server took this one's place; wait";
      if (isHandingOver())
        return `this server took the place of another one, which needs a moment to stop; it acts from ${isoTime((life?.takenOverAt ?? 0) + handoverMs)} on`;
      return undefined;
    },
    actsSince: () => (life?.takenOverAt === undefined ? 0 : life.takenOverAt + handoverMs),
    expectLook(is) {
      isLooking = is;
    },
    onAsk(does) {
      ask = does;
    },
    askAgain: () => ask(),
    read() {
      life = read() ?? life;
    },
    async write(next) {
      await write(next);
      life = next;
    },
  };
}

/** What a look at a target says: nothing to do, this server's generation is to be written there, or another one acts. */
type Verdict = { is: "ours" } | { is: "raise"; to: Generation } | { is: "replaced"; by: Generation };

export function judge(mine: Generation, found: Generation | undefined): Verdict {
  if (found === undefined) return { is: "raise", to: { life: mine.life, number: Math.max(1, mine.number) } };
  if (found.life === mine.life) return { is: "ours" };
  return comesAfter(mine, found) ? { is: "raise", to: mine } : { is: "replaced", by: found };
}
