import { createHash, createPublicKey, verify } from "node:crypto";

/** What signatures of releases are for: a signature of something else by the same key counts for nothing. */
export const releaseNamespace = "berth-release";

/** The raw keys of Ed25519 in lines such as those of `id_ed25519.pub`, of `authorized_keys` and of `allowed_signers`. */
export function publicKeys(text: string): Buffer[] {
  return text.split("\n").flatMap((line) => {
    const [, base64] = /(?:^|\s)ssh-ed25519 ([A-Za-z0-9+/=]+)/.exec(line.replace(/#.*/, "")) ?? [];
    const blob = base64 === undefined ? undefined : keyOf(Buffer.from(base64, "base64"));
    return blob === undefined ? [] : [blob];
  });
}

/**
 * Whether one of these keys has signed a text for this purpose. The signature is what `ssh-keygen -Y sign` writes, of a key
 * of the type Ed25519. Source: PROTOCOL.sshsig of OpenSSH.
 */
export function isSigned(
  text: string,
  { signature, keys, namespace }: { signature: string; keys: readonly Buffer[]; namespace: string },
): boolean {
  const found = readSignature(signature);
  if (found === undefined || found.namespace !== namespace) return false;
  const key = keys.find((one) => one.equals(found.key));
  if (key === undefined) return false;
  const digest = createHash(found.hash).update(text).digest();
  const signed = Buffer.concat([magic, ...[namespace, "", found.hash, digest].map(lengthAndBytes)]);
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") };
  return verify(null, signed, createPublicKey({ key: jwk, format: "jwk" }), found.bytes);
}

const magic = Buffer.from("SSHSIG");
const keyBytes = 32;
const signatureBytes = 64;
const hashes = ["sha512", "sha256"];

interface Signature {
  key: Buffer;
  namespace: string;
  hash: string;
  bytes: Buffer;
}

/** Undefined for what is none, or of another kind of key or hash. */
function readSignature(armored: string): Signature | undefined {
  const [, body] =
    /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+?)\r?\n-----END SSH SIGNATURE-----\s*$/.exec(armored) ?? [];
  if (body === undefined) return undefined;
  const blob = Buffer.from(body, "base64");
  if (!blob.subarray(0, magic.length).equals(magic) || blob.length < 10 || blob.readUInt32BE(6) !== 1) return undefined;
  const [publicKey, namespace, reserved, hash, signature, ...more] = fieldsOf(blob.subarray(10));
  if (publicKey === undefined || namespace === undefined || hash === undefined || signature === undefined)
    return undefined;
  const key = keyOf(publicKey);
  const bytes = ofEd25519(signature, signatureBytes);
  const isPlain = reserved?.length === 0 && more.length === 0 && hashes.includes(hash.toString());
  if (key === undefined || bytes === undefined || !isPlain) return undefined;
  return { key, namespace: namespace.toString(), hash: hash.toString(), bytes };
}

function keyOf(blob: Buffer): Buffer | undefined {
  return ofEd25519(blob, keyBytes);
}

/** What stands behind the name of the algorithm. */
function ofEd25519(blob: Buffer, length: number): Buffer | undefined {
  const [name, bytes, ...more] = fieldsOf(blob);
  const isIt = name?.toString() === "ssh-ed25519" && bytes?.length === length && more.length === 0;
  return isIt ? bytes : undefined;
}

/** Strings with their length in front (RFC 4251, section 5); none where the lengths do not fit. */
function fieldsOf(blob: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    const end = at + 4 <= blob.length ? at + 4 + blob.readUInt32BE(at) : Number.POSITIVE_INFINITY;
    if (end > blob.length) return [];
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function lengthAndBytes(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
