import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";
import { isScalar } from "./text.ts";

/** A health check as a readiness probe, with the defaults of Compose; undefined where there is none. */
export function readinessOf(value: unknown, path: string, lose: Lose): Record<string, unknown> | undefined {
  if (!isFields(value)) {
    lose(path, "is not a health check: left out");
    return undefined;
  }
  const { test, interval = "30s", timeout = "30s", retries = 3, disable } = value;
  // Without a command it only changes how often the image's own check runs.
  if (disable === true || test === undefined || test === null) return undefined;
  const command = commandOf(test);
  if (command === undefined) {
    if (!isNone(test)) lose(`${path}.test`, "is not a command: left out");
    return undefined;
  }
  return {
    exec: { command },
    period: String(interval),
    timeout: String(timeout),
    failure_threshold: retries,
  };
}

function isNone(test: unknown): boolean {
  return Array.isArray(test) && test[0] === "NONE";
}

function commandOf(test: unknown): string[] | undefined {
  if (typeof test === "string") return ["sh", "-c", test];
  if (!Array.isArray(test) || !test.every(isScalar)) return undefined;
  const [kind, ...words] = test.map(String);
  if (kind === "CMD-SHELL" && words.length > 0) return ["sh", "-c", words.join(" ")];
  return kind === "CMD" && words.length > 0 ? words : undefined;
}
