import type { Event } from "../../orchestration/api/events.ts";

/** Fields that tell one occurrence from the next, and not one fault from another. */
const occurrence = new Set([
  "release",
  "replica_id",
  "run_id",
  "instant",
  "attempt",
  "generation",
  "times",
  "last_lines",
]);

/**
 * Failures of one resource that say the same, as one event: the newest, with `times` of all of them. Replicas, releases
 * and last lines of output may differ. In the order of the newest of each; `events` are oldest first.
 */
export function sameFailures(events: readonly Event[]): Event[] {
  const found = new Map<string, Event>();
  for (const event of events) {
    const key = faultOf(event);
    const times = timesOf(event) + timesOf(found.get(key));
    // Moved to the end: the order is that of the newest.
    found.delete(key);
    found.set(key, times === 1 ? event : { ...event, detail: { ...event.detail, times } });
  }
  return [...found.values()];
}

function timesOf(event: Event | undefined): number {
  if (event === undefined) return 0;
  const times = event.detail?.times;
  return typeof times === "number" ? times : 1;
}

function faultOf({ action, kind, scope, name, detail }: Event): string {
  const told = Object.entries(detail ?? {}).filter(([key]) => !occurrence.has(key));
  // Behind the name of the app stands the id of a replica.
  const [first = "", ...parts] = JSON.stringify(told).split(`${[scope, name].filter(Boolean).join("-")}.`);
  const text = [first, ...parts.map((part) => part.replace(/^[a-z0-9]+/, ""))].join("");
  return JSON.stringify([action, kind, scope, name, text]);
}
