/** `KEY=value` rows as the engine keeps an environment. A row without `=` is a key with an empty value. */
export function envRecord(rows: readonly string[] | null | undefined): Record<string, string> {
  return Object.fromEntries(
    (rows ?? []).map((row) => {
      const cut = row.indexOf("=");
      return cut === -1 ? [row, ""] : [row.slice(0, cut), row.slice(cut + 1)];
    }),
  );
}

export function envRows(env: Record<string, string>): string[] {
  return Object.entries(env).map(([key, value]) => `${key}=${value}`);
}

/** Epoch milliseconds of an RFC 3339 text; undefined for the engine's "never", which is the year 1. */
export function epochMs(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) || at <= 0 ? undefined : at;
}

/** Label rows as the engine's filters want them. */
export function labelFilter(labels: Record<string, string>): { label: string[] } {
  return { label: envRows(labels) };
}

/** A text or a list of texts, as a list. */
export function asList(value: string | string[] | null | undefined): string[] {
  if (value === null || value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/**
 * Whether the engine could know an object by this name or id. dockerode puts names into the path as they are, so
 * that `..` would reach another endpoint (and the engine's redirect of it ends the process): ask this first.
 */
export function isObjectName(text: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(text);
}
