const dayMs = 86_400_000;

/** Bytes that a target grows by in a day; undefined before two days were measured. */
export function growthOf(sizes: readonly { at: number; bytes: number }[] = []): number | undefined {
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < dayMs) return undefined;
  return Math.round(((last.bytes - first.bytes) * dayMs) / (last.at - first.at));
}

const units = { MB: 1e6, GB: 1e9, TB: 1e12 };

/** `50GB` in bytes; undefined for what is not a size. */
export function readSize(text: string): number | undefined {
  const [, count = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)\s?(MB|GB|TB)$/i.exec(text) ?? [];
  const factor = units[unit.toUpperCase() as keyof typeof units];
  const bytes = Math.round(Number(count) * (factor ?? 0));
  return bytes > 0 ? bytes : undefined;
}

export function sizeText(bytes: number): string {
  const [unit, factor] = Object.entries(units).findLast(([, one]) => bytes >= one) ?? ["MB", units.MB];
  return `${Number((bytes / factor).toFixed(1))}${unit}`;
}
