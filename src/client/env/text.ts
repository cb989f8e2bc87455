/**
 * Variables as the lines of an env file, sorted by key. The reader of env files gets the same values back, and so does
 * a shell, as long as no value has a line break.
 */
export function envText(variables: Readonly<Record<string, string>>): string {
  const keys = Object.keys(variables).sort();
  return keys.map((key) => `${key}=${quoted(variables[key] ?? "")}\n`).join("");
}

/** Single quotes where they do: other readers expand `$` in double ones. */
function quoted(value: string): string {
  if (/^[\w./:@%+,=-]*$/.test(value)) return value;
  if (!/['\n\r]/.test(value)) return `'${value}'`;
  return `"${value
    .replace(/[\\"$]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")}"`;
}
