const letters = "abcdefghijklmnopqrstuvwxyz";
const alphabet = `${letters}234567`;
const length = 5;

/**
 * Id of a deployment replica: 5 characters base32 (RFC 4648, lower case) that start with a letter, so that it is never
 * taken for an ordinal. Needs 5 random bytes; the caller checks that the id is free.
 */
export function replicaId(bytes: Uint8Array): string {
  if (bytes.length < length) throw new RangeError(`a replica id needs ${length} random bytes`);
  const [first = 0, ...rest] = bytes.subarray(0, length);
  return letters.charAt(first % letters.length) + rest.map((byte) => alphabet.charAt(byte % 32)).join("");
}
