import { usageFailure } from "../client/basics/failures.ts";
import { sayNow } from "../client/basics/output.ts";

/** What a local command ends with: its lines on stdout or, with `-o json`, `data` in the envelope. */
export function report({ json, data }: { json: boolean; data: unknown }, lines: readonly string[]): void {
  const text = json ? JSON.stringify({ status: "ok", data }, null, 2) : lines.join("\n");
  sayNow(text);
}

/** The value of `-o`: text is the default. */
export function wantsJson(format: string | undefined): boolean {
  if (format === undefined || format === "text" || format === "json") return format === "json";
  throw usageFailure(`no output format "${format}": text or json`);
}
