/** A field that two specs have otherwise. */
interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

const shownMax = 120;

/** `image: "web:1" → "web:2"`, `env.DEBUG: removed (was "1")`. */
export function changeText({ path, before, after }: Change): string {
  if (after === undefined) return `${path}: removed (was ${valueText(before)})`;
  if (before === undefined) return `${path}: added ${valueText(after)}`;
  return `${path}: ${valueText(before)} → ${valueText(after)}`;
}

export function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
