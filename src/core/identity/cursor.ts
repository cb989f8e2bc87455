/** Where a list goes on, as an opaque text of the letters of base64url. */
export function encodeCursor(position: readonly number[]): string {
  return Buffer.from(position.join(".")).toString("base64url");
}

/** Undefined for a text that is none of ours, or has another number of parts. */
export function decodeCursor(text: string, parts: number): number[] | undefined {
  const position = Buffer.from(text, "base64url").toString();
  if (!/^\d{1,16}(?:\.\d{1,16})*$/.test(position)) return undefined;
  const numbers = position.split(".").map(Number);
  const fits = numbers.length === parts && numbers.every(Number.isSafeInteger) && encodeCursor(numbers) === text;
  return fits ? numbers : undefined;
}
