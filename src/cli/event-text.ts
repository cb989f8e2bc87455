import type { Event } from "../api/orchestration/events.ts";
import { timeText } from "./time-text.ts";
import { printable } from "./style.ts";

/** Time, who, what, on what and with which details: a row each. */
export function eventRows(events: readonly Event[]): string[][] {
  return events.map((event) => {
    const reference = [event.kind, event.scope, event.name].filter(Boolean).join("/");
    return [timeText(event.at), event.actor, event.action, reference, detailText(event.detail)].map(printable);
  });
}

function detailText(detail: Event["detail"]): string {
  // Of something new every field is new.
  const shown = Object.entries(detail ?? {}).filter(([key]) => key !== "changed" || detail?.outcome !== "created");
  return shown.map(([key, value]) => `${key}=${valueText(value)}`).join(" ");
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}
