import type { Snapshot } from "./restic-words.ts";

/**
 * Which server acts for an installation: its life, an id that is made for each machine that takes the place of another,
 * and a number that grows each time. The snapshot at a target that has the highest number names the server that acts.
 */
export interface Generation {
  number: number;
  life: string;
}

/** Tag of the snapshots that hold nothing but a generation. */
const generationTag = "generation";

export function generationTags({ number, life }: Generation): string[] {
  return [generationTag, `number=${number}`, `life=${life}`];
}

export const isGenerationOnly = ({ tags }: Pick<Snapshot, "tags">) => tags.includes(generationTag);

/** The generation that a target names; undefined where it names none. */
export function newestGeneration(snapshots: readonly Snapshot[]): (Generation & { at: number }) | undefined {
  const found = snapshots.filter(isGenerationOnly).flatMap(({ at, tags }) => {
    const of = (name: string) => tags.find((tag) => tag.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
    const [number, life] = [Number(of("number")), of("life")];
    return Number.isSafeInteger(number) && number > 0 && life !== "" ? [{ number, life, at }] : [];
  });
  return found.reduce<(typeof found)[number] | undefined>(
    (best, one) => (best === undefined || comesAfter(one, best) ? one : best),
    undefined,
  );
}

/** Two servers that took the same number at the same moment both find the same one of them. */
export function comesAfter(one: Generation, other: Generation): boolean {
  return one.number > other.number || (one.number === other.number && one.life > other.life);
}
