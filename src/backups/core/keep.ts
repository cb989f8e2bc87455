import { Failure } from "../../base/wire/failure.ts";

const units = { h: "--keep-hourly", d: "--keep-daily", w: "--keep-weekly", m: "--keep-monthly", y: "--keep-yearly" };

/** How much is kept: the newest of each of the last 24 hours, 7 days, 4 weeks and 12 months. */
export const keepDefault = "24h 7d 4w 12m";

/** `7d 4w 12m` as words of restic's `forget`. The newest copy always stays. Fails `invalid`. */
export function keepWords(text: string): string[] {
  const parts = text.split(" ").filter((part) => part !== "");
  const seen = new Set<string>();
  const words = parts.flatMap((part) => {
    const [, count = "", unit = ""] = /^([1-9]\d{0,3})([hdwmy])$/.exec(part) ?? [];
    if (unit === "") throw wrong(`"${part}" is not a count with its unit`);
    if (seen.has(unit)) throw wrong(`"${unit}" stands in it twice`);
    seen.add(unit);
    return [units[unit as keyof typeof units], count];
  });
  if (words.length === 0) throw wrong("it is empty");
  return ["--keep-last", "1", ...words];
}

const wrong = (why: string) =>
  new Failure("invalid", `what to keep is written like "7d 4w 12m" (units h, d, w, m and y): ${why}`);
