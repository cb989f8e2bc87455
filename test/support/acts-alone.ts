import { createLife, type StoredLife } from "../../src/backups/service/life.ts";
import type { Clock } from "../../src/base/words/clock.ts";

/** A server whose place no other one takes; `stored` is the file of its root, null where there is none. */
export function actsAlone(clock: Clock, stored: StoredLife | null = { number: 1, life: "aa" }) {
  let file = stored ?? undefined;
  const life = createLife({
    read: () => file,
    async write(next) {
      file = next;
    },
    ...{ clock, handoverMs: 90_000 },
  });
  return { life, isUnconfirmed: () => false, onReplaced: async () => undefined, stateDigest: () => "same" };
}

/** Its generation, as restic lists it. */
export const generationRow = (time: string) => ({ id: "ge", time, tags: ["generation", "number=1", "life=aa"] });
