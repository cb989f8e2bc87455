import type { SettingForm } from "../../observability/api/identity.ts";

/** A value as a form shows it. */
export function settingText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What was written, as the server takes it; null puts the setting back to its default. */
export function settingValue({ kind }: Pick<SettingForm, "kind">, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (kind === "list") return trimmed.split(/\s*\n\s*/);
  if (kind === "flag") return trimmed === "true";
  // What is not a number goes as it is: the server says what is wrong with it.
  return kind === "number" && /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}
