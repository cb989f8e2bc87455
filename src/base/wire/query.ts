import { Type } from "@sinclair/typebox";

/** A query boolean: `true`, `false`, `1` or `0`; anything else is a 400. Read with `readFlag`. */
export const Flag = (description: string) => Type.Optional(Type.String({ description, pattern: "^(true|false|1|0)$" }));

/** A trimmed query string. */
export const Text = (description: string) => Type.Optional(Type.String({ description }));

export function readFlag(value: string | undefined, fallback: boolean): boolean {
  return value === undefined || value === "" ? fallback : value === "true" || value === "1";
}
