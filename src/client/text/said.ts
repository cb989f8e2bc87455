/**
 * Whether a text stands in another one already. A failed release is reported by its resource, its conditions, its events and
 * its replicas, each in the same words, perhaps with a word in front: a screen says them once.
 */
export function isSaid(text: unknown, ...above: readonly (string | undefined)[]): boolean {
  return typeof text === "string" && text !== "" && above.some((said) => said?.includes(text) === true);
}
