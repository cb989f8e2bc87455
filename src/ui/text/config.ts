import type { Activity } from "../../observability/api/activity.ts";

/** Values that wait to be stored; null unsets a key. */
export type Draft = Readonly<Record<string, string | null>>;

/** A draft in which a file is everything: own keys that it does not have are unset. */
export function asWhole(vars: Readonly<Record<string, string>>, own: readonly string[]): Draft {
  const gone = own.filter((key) => !Object.hasOwn(vars, key));
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...vars };
}

export function without(draft: Draft, key: string): Draft {
  return Object.fromEntries(Object.entries(draft).filter(([one]) => one !== key));
}

/** Keys of a draft that somebody else has stored since it began; the newest change of each. */
export function conflictsOf(draft: Draft, events: readonly Activity[], since: number) {
  const later = events.filter(({ seq }) => seq > since);
  return Object.keys(draft).flatMap((key) => {
    const found = later.find(({ detail, title }) => keysOf(detail, title).includes(key));
    return found === undefined ? [] : [{ key, by: found.actor_name ?? found.actor, at: found.at }];
  });
}

function keysOf(detail: unknown, title: string): string[] {
  const { keys } = (typeof detail === "object" && detail !== null ? detail : {}) as { keys?: unknown };
  return Array.isArray(keys) ? keys.map(String) : title.split(/[^A-Za-z0-9_]+/);
}
