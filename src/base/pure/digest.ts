/** JSON with sorted keys (by code unit) and without undefined fields: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let fields = "";
  for (const key of Object.keys(value).sort()) {
    const item: unknown = Reflect.get(value, key);
    if (item !== undefined) fields += `${fields === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${fields}}`;
}

export function sha256Hex(content: string | Uint8Array): string {
  return sha256().update(content).digest("hex");
}

/** Permissions of an asset's file where none are written: any user of a container may read it. */
export const plainMode = 0o644;

/**
 * The name of an asset's file: SHA-256 of its bytes. Any other mode counts too, as a mounted file keeps its mode; then it is
 * SHA-512/256, since a plain file can begin with the words of a mode: no content of one app may take the name of another's.
 */
export function assetDigest(bytes: Uint8Array, mode: number): string {
  if (mode === plainMode) return sha256Hex(bytes);
  return new Bun.CryptoHasher("sha512-256")
    .update(`mode ${mode.toString(8)}\n`)
    .update(bytes)
    .digest("hex");
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
