/** JSON with sorted keys (by code unit) and without undefined fields: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

export function sha256Hex(content: string | Uint8Array): string {
  return sha256().update(content).digest("hex");
}

/** SHA-256 of several pieces one behind the other. */
export function sha256Bytes(pieces: readonly Uint8Array[]): Uint8Array {
  const hash = sha256();
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/** The platform's own: loading `node:crypto` takes a client command a fifth of its time. */
function sha256() {
  return new Bun.CryptoHasher("sha256");
}
