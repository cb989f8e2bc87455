const pattern = /^(\d{1,3}(?:\.\d{1,4})?)\s?%$/;

/** How a share is written, for error texts. */
export const percentForm = 'write it like "5%" or "0.5%"';

/** A share from 0 to 1 of `5%` or `0.5%`; undefined when the text is none, or above 100 %. */
export function parsePercent(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const percent = Number(match[1]);
  return percent <= 100 ? percent / 100 : undefined;
}

/** `0.05` → `5 %`, with three digits that count. */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}
