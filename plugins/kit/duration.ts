const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** Milliseconds of `30s`, `5m`, `1h30m`, `30d`; undefined when the text is not a duration. */
export function durationMs(text: string): number | undefined {
  const match = /^(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/.exec(text);
  if (match === null || text === "") return undefined;
  return Object.values(unitMs).reduce((sum, size, index) => sum + Number(match[index + 1] ?? 0) * size, 0);
}
