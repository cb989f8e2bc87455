/** A text as one phrase of a log query, whatever is in it. */
export function quotedPhrase(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
