import { type Parsed, parsed, unreadable } from "./parsed.ts";

const units = ["h", "d", "w", "m", "y"] as const;

/** How many copies are kept: the newest of each of the last `count` hours, days, weeks, months or years. */
export interface Keep {
  count: number;
  unit: (typeof units)[number];
}

/** How much is kept where nothing is said. */
export const keepDefault = "24h 7d 4w 12m";

/** Reads `7d 4w 12m`. */
export function parseKeep(text: string): Parsed<Keep[]> {
  const found: Keep[] = [];
  for (const part of text.split(" ").filter((one) => one !== "")) {
    const [, count = "", letter] = /^([1-9]\d{0,3})([a-z])$/.exec(part) ?? [];
    const unit = units.find((one) => one === letter);
    if (unit === undefined) return wrong(`"${part}" is not a count with its unit`);
    if (found.some((one) => one.unit === unit)) return wrong(`"${unit}" stands in it twice`);
    found.push({ count: Number(count), unit });
  }
  return found.length === 0 ? wrong("it is empty") : parsed(found);
}

const wrong = (why: string) => unreadable(`what to keep is written like "7d 4w 12m" (units h, d, w, m and y): ${why}`);
