import type { Event } from "../../orchestration/api/events.ts";
import { fieldName } from "../facts/changes.ts";
import { timeText } from "./time-text.ts";
import { printable } from "../basics/style.ts";

/** Time, who, what, on what and with which details: a row each. */
export function eventRows(events: readonly Event[]): string[][] {
  return events.map((event) => {
    const reference = [event.kind, event.scope, event.name].filter(Boolean).join("/");
    return [timeText(event.at), event.actor, event.action, reference, detailText(event.detail)].map(printable);
  });
}

/** What an app printed last, in the detail of an event: lines of their own. */
const linesKey = "last_lines";

/** Puts what an app printed last below the row of its event; `rows` are the rows as text, one an event. */
export function withLastLines(rows: readonly string[], events: readonly Event[]): string {
  const below = (detail: Event["detail"]) => {
    const lines = detail?.[linesKey];
    return Array.isArray(lines) ? lines.map((line) => `    | ${printable(String(line))}`) : [];
  };
  return events.flatMap(({ detail }, index) => [rows[index] ?? "", ...below(detail)]).join("\n");
}

function detailText(detail: Event["detail"]): string {
  // Everything is new, so every field is.
  const isShown = (key: string) => key !== linesKey && (key !== "changed" || detail?.outcome !== "created");
  const shown = Object.entries(detail ?? {}).filter(([key]) => isShown(key));
  return shown.map(([key, value]) => `${key}=${key === "changed" ? changedText(value) : valueText(value)}`).join(" ");
}

/** Paths of changed fields. */
function changedText(paths: unknown): string {
  return Array.isArray(paths) ? paths.map((path) => fieldName(valueText(path))).join(",") : valueText(paths);
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}
