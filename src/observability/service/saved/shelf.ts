import { Failure, type Problem, problemsFailure } from "../../../base/wire/failure.ts";
import type { Clock } from "../../../base/words/clock.ts";
import type { ObservabilityStore } from "../../store/open-store.ts";
import type { SavedRecord, SavedSort } from "../../store/saved.ts";

/** How much may be saved of one sort. */
export interface ShelfLimits {
  countMax: number;
  /** Size of one body, as JSON. */
  bytesMax: number;
}

interface ShelfOptions {
  sort: SavedSort;
  /** For messages: `log search`. */
  label: string;
  /** The command that lists them. */
  list: string;
  limits: ShelfLimits;
}

/** Things that all users of the installation share, by name. */
interface Shelf {
  list(): SavedRecord[];
  /** Fails `not_found`. */
  get(name: string): SavedRecord;
  /** Fails `invalid` for a bad name, the given problems or too many bytes, and `conflict` when there are too many. */
  put(record: { name: string; body: unknown; by: string }, problems: readonly Problem[]): Promise<SavedRecord>;
  /** Fails `not_found`. */
  remove(name: string): Promise<SavedRecord>;
}

export function createShelf(
  { store, clock }: { store: ObservabilityStore; clock: Clock },
  options: ShelfOptions,
): Shelf {
  const { sort, label, list, limits } = options;
  const get = (name: string) => {
    const found = store.saved.get(sort, name);
    if (found !== undefined) return found;
    throw new Failure("not_found", `there is no ${label} "${name}"; list them with: ${list}`);
  };
  return {
    list: () => store.saved.list(sort),
    get,
    async put({ name, body, by }, problems) {
      const bytes = Buffer.byteLength(JSON.stringify(body));
      const all = [
        ...nameProblems(label, name),
        ...problems,
        ...(bytes > limits.bytesMax
          ? [{ path: "", message: `the ${label} has ${bytes} bytes; at most ${limits.bytesMax} are allowed` }]
          : []),
      ];
      if (all.length > 0) throw problemsFailure(all);
      const record = { name, body, updatedAt: clock.now(), updatedBy: by };
      await store.write(({ saved }) => {
        if (saved.get(sort, name) === undefined && saved.list(sort).length >= limits.countMax)
          throw new Failure(
            "conflict",
            `${limits.countMax} of this sort are saved, which is the most: delete one first`,
          );
        saved.put(sort, record);
      });
      return record;
    },
    async remove(name) {
      const record = get(name);
      await store.write(({ saved }) => saved.remove(sort, name));
      return record;
    },
  };
}

function nameProblems(label: string, name: string): Problem[] {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) return [];
  const message = `name "${name}" of a ${label} is not valid; use 1 to 63 lowercase letters, digits and dashes`;
  return [{ path: "", message }];
}
