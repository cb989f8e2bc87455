/** A figure stands for work. What was not done takes no time and would look fast, so such a run fails. */
export function mustBe(what: string, found: unknown, expected: unknown): void {
  if (!Bun.deepEquals(found, expected, true))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}

export function mustHold(what: string, text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`${what}: "${part}" is not in ${JSON.stringify(text.slice(0, 300))}`);
}
