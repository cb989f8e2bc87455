/** A container that carries our labels. */
export interface LabelledContainer {
  id: string;
  name: string;
  kind: string;
  scope: string;
  createdAt: number;
  /** `formatKey` of the resource that its labels name. */
  key: string;
}

export interface OrphansInput {
  containers: readonly LabelledContainer[];
  /** `formatKey` of every stored manifest. */
  manifestKeys: ReadonlySet<string>;
  /** `formatKey` of every delete mark. */
  deleteMarks: ReadonlySet<string>;
  /** Set after a restore until it is confirmed: what the restored store does not know may be newer than it. */
  held: boolean;
  /** Container id → epoch ms at which it was first seen without a manifest. */
  firstSeenAt: ReadonlyMap<string, number>;
  now: number;
  graceMs: number;
  /** All live containers of this installation. */
  liveTotal: number;
}

interface Orphans {
  /** Ids to remove now. */
  remove: string[];
  /** Ids that would go but may not, and why; undefined when there are none. Those within their grace are in neither. */
  hold: { ids: string[]; why: string | undefined };
}

/** From so many on, a collection that takes more than half of what runs is taken for a lost store. */
const massFrom = 3;

/**
 * Which containers belong to nothing. One whose resource was deleted goes at once; one that merely has no manifest
 * goes after its grace, and never when that looks like the store being wrong rather than the containers.
 */
export function orphans(input: OrphansInput): Orphans {
  const { containers, manifestKeys, deleteMarks } = input;
  // A resource that was deleted and applied again is its reconciler's business, mark or not.
  const unowned = containers.filter(({ key }) => !manifestKeys.has(key));
  const deleted = unowned.filter(({ key }) => deleteMarks.has(key));
  const due = unowned.filter((container) => !deleteMarks.has(container.key) && isDue(container, input));
  const why = due.length === 0 ? undefined : whyHeld(due, input);
  return {
    remove: idsOf(why === undefined ? [...deleted, ...due] : deleted),
    hold: { ids: why === undefined ? [] : idsOf(due), why },
  };
}

function isDue({ id }: LabelledContainer, { firstSeenAt, now, graceMs }: OrphansInput): boolean {
  return now - (firstSeenAt.get(id) ?? now) >= graceMs;
}

function whyHeld(due: readonly LabelledContainer[], { held, liveTotal }: OrphansInput): string | undefined {
  if (held) return "the store was restored and the restore is not confirmed";
  if (due.length < massFrom || due.length * 2 <= liveTotal) return undefined;
  return `${due.length} of ${liveTotal} containers have no manifest: the store may be the wrong one`;
}

function idsOf(containers: readonly LabelledContainer[]): string[] {
  return containers.map(({ id }) => id);
}
