import { durationForm, parseDuration } from "../../../base/pure/duration.ts";
import type { Report } from "./rule.ts";

/** Reports a duration that cannot be read, or one of zero where something would never wait. */
export function durationRule(
  text: string | undefined,
  path: string,
  { report, aboveZero = false }: { report: Report; aboveZero?: boolean },
): void {
  if (text === undefined) return;
  const ms = parseDuration(text);
  if (ms === undefined) report(path, `"${text}" is not a duration; ${durationForm}`);
  else if (aboveZero && ms === 0) report(path, `"${text}" must be above zero`);
}
