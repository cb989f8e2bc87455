/** Languages of the hosted pages and of mails; the first is what everybody gets whose own is not among them. */
const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

const headerLengthMax = 512;
const rangesMax = 16;

/** The language of a page: that of the instance, or the one that `Accept-Language` likes best (RFC 9110 section 12.5.4). */
export function chooseLanguage(setting: string, acceptLanguage: string | null): Language {
  const fixed = languages.find((known) => known === setting);
  if (fixed !== undefined) return fixed;
  const ranges = (acceptLanguage ?? "").slice(0, headerLengthMax).split(",").slice(0, rangesMax);
  const wishes = ranges.map((range, index) => ({ ...wishOf(range), index })).filter(({ quality }) => quality > 0);
  wishes.sort((a, b) => b.quality - a.quality || a.index - b.index);
  for (const { tag } of wishes) {
    const found = languages.find((known) => tag === known || tag.startsWith(`${known}-`));
    if (found !== undefined) return found;
  }
  return languages[0];
}

function wishOf(range: string): { tag: string; quality: number } {
  const [tag = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const weight = quality === undefined ? 1 : Number(quality);
  return { tag, quality: Number.isFinite(weight) ? weight : 0 };
}
