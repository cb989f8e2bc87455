/** Room for two numbers: how long a position is says nothing about it. */
const textLength = 33;

/** Where a list goes on, as text of one length; to be sealed before anybody sees it. */
export function positionText(position: readonly number[]): string {
  return position.join(".").padStart(textLength);
}

/** Undefined for a text that is not a position, or has another number of parts. */
export function readPosition(text: string, parts: number): number[] | undefined {
  const position = text.trimStart();
  if (!/^\d{1,16}(?:\.\d{1,16})*$/.test(position)) return undefined;
  const numbers = position.split(".").map(Number);
  const fits = numbers.length === parts && numbers.every(Number.isSafeInteger) && positionText(numbers) === text;
  return fits ? numbers : undefined;
}
