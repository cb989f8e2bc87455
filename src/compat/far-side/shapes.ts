import { isFields } from "../../base/pure/fields.ts";
import { Failure } from "../../base/wire/failure.ts";

/** What is printed of the `data` that a command of berth answers with. */
export type Shape = (data: unknown) => string;

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** How that client shows structures: JSON or YAML of the bare data. */
export function bare(format: "json" | "yaml", part: (data: unknown) => unknown = (data) => data): Shape {
  return (data) => (format === "json" ? json(part(data)) : Bun.YAML.stringify(part(data), null, 2));
}

/** The rows alone. */
export function rows(field: string): (data: unknown) => unknown {
  return (data) => (isFields(data) ? (data[field] ?? []) : []);
}

/** With the envelope, as the server answers. */
export function enveloped(format: "json" | "yaml"): Shape {
  return bare(format, (data) => ({ status: "ok", data }));
}

/** A config: `KEY=value` lines, an object, or a block of a manifest. `pattern` is a part of the keys. */
export function config({ format, pattern }: { format: string; pattern: string | undefined }): Shape {
  return (data) => {
    const vars = isFields(data) && isFields(data.vars) ? data.vars : {};
    const keys = Object.keys(vars).sort();
    const shown = keys.filter((key) => pattern === undefined || key.toLowerCase().includes(pattern.toLowerCase()));
    if (shown.length === 0 && pattern !== undefined) throw new Failure("not_found", `no key holds "${pattern}"`);
    const chosen = Object.fromEntries(shown.map((key) => [key, String(vars[key])]));
    if (format === "json") return json(chosen);
    if (format === "yaml") return Bun.YAML.stringify(chosen, null, 2);
    if (format === "hcl") return hclBlock(chosen);
    return shown.map((key) => `${key}=${chosen[key]}`).join("\n");
  };
}

function hclBlock(vars: Record<string, string>): string {
  const lines = Object.entries(vars).map(([key, value]) => `  ${key} = ${hclText(value)}`);
  return ["env = {", ...lines, "}"].join("\n");
}

function hclText(value: string): string {
  return JSON.stringify(value)
    .replaceAll("${", () => "$${")
    .replaceAll("%{", "%%{");
}
