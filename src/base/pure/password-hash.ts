/** Costliest hash: the proxy computes it with every request, on the thread that serves all others. */
const roundsMax = 10_000;

const pattern = /^\$[56]\$(?:rounds=(\d{4,9})\$)?[./0-9A-Za-z]{1,16}\$(?:[./0-9A-Za-z]{43}|[./0-9A-Za-z]{86})$/;

/** How a hash is made, for error texts. */
export const passwordHashForm = `make one with "openssl passwd -6"; at most ${roundsMax} rounds`;

/** Whether a text is a password hash of crypt(3) that every system knows: SHA-256 (`$5$`) or SHA-512 (`$6$`). */
export function isPasswordHash(text: string): boolean {
  const match = pattern.exec(text);
  if (match === null) return false;
  const isLong = text.slice(text.lastIndexOf("$") + 1).length === 86;
  return isLong === text.startsWith("$6$") && Number(match[1] ?? 0) <= roundsMax;
}
