import { enter, type Limit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { VolumeSubject } from "../core/subject.ts";

/** Lets others pass while `slow` takes long. */
export type Aside = <T>(slow: () => Promise<T>) => Promise<T>;

/** When copies of volumes have their turn. `copying`: the one turn of all copies and restores. */
export function createTurns(copying: Limit, { log, commandAloneMs }: { log: Log; commandAloneMs: number }) {
  /** Copies under way and waiting, by their app: `post` ends before the next `pre` of the same app begins. */
  const lines = new Map<string, Promise<void>>();

  /** Never rejects. */
  function inLine({ scope, kind, name }: VolumeSubject, work: () => Promise<void>): Promise<void> {
    const app = `${kind}/${scope}/${name}`;
    const ended = (lines.get(app) ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) => log.error("copy of an app failed", { app, error }))
      .then(() => {
        if (lines.get(app) === ended) lines.delete(app);
      });
    lines.set(app, ended);
    return ended;
  }
  const isInLine = ({ scope, kind, name }: VolumeSubject) => lines.has(`${kind}/${scope}/${name}`);

  /** Makes a copy in the one turn of all, which it leaves while a command of the app takes long. */
  async function inTurn(work: (aside: Aside) => Promise<void>, onAside: () => void): Promise<void> {
    let leave = await enter(copying);
    const aside: Aside = async (slow) => {
      let hasLeft = false;
      const timer = setTimeout(() => {
        hasLeft = true;
        leave();
        onAside();
      }, commandAloneMs);
      try {
        return await slow();
      } finally {
        clearTimeout(timer);
        if (hasLeft) leave = await enter(copying);
      }
    };
    try {
      await work(aside);
    } finally {
      leave();
    }
  }

  return { inLine, isInLine, inTurn, settled: async () => void (await Promise.all(lines.values())) };
}
