import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `bun cheap-key.ts`: makes the key of the repository of restic in $RESTIC_REPOSITORY cheap to derive. restic takes half a
 * second of CPU for it in each of its commands, which is most of what they cost in tests. The password stays the same.
 * Design of restic, chapters "Keys, Encryption and MAC".
 */
const { RESTIC_REPOSITORY: repository = "", RESTIC_PASSWORD: password = "" } = process.env;
const folder = join(repository, "keys");

interface KeyFile {
  N: number;
  r: number;
  p: number;
  salt: string;
  /** The nonce, the encrypted keys of the repository, and their MAC. */
  data: string;
}

const derived = ({ N, r, p, salt }: KeyFile) =>
  scryptSync(password, Buffer.from(salt, "base64"), 64, { N, r, p, maxmem: 1024 * 1024 * 1024 });

function opened(file: KeyFile): Buffer {
  const data = Buffer.from(file.data, "base64");
  const cipher = createDecipheriv("aes-256-ctr", derived(file).subarray(0, 32), data.subarray(0, 16));
  return cipher.update(data.subarray(16, -16));
}

function sealed(plain: Buffer, file: KeyFile): string {
  const key = derived(file);
  const nonce = randomBytes(16);
  const cipher = createCipheriv("aes-256-ctr", key.subarray(0, 32), nonce);
  const encrypted = cipher.update(plain);
  const once = createCipheriv("aes-128-ecb", key.subarray(32, 48), null).update(nonce);
  return Buffer.concat([nonce, encrypted, poly1305(encrypted, key.subarray(48, 64), once)]).toString("base64");
}

/** Little-endian. */
const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex") || "0"}`);

/** RFC 8439, section 2.5. */
function poly1305(message: Buffer, r: Buffer, s: Buffer): Buffer {
  const factor = number(r) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = Buffer.concat([message.subarray(at, at + 16), Buffer.of(1)]);
    sum = ((sum + number(block)) * factor) % ((1n << 130n) - 5n);
  }
  const tag = (sum + number(s)) & ((1n << 128n) - 1n);
  return Buffer.from(tag.toString(16).padStart(32, "0"), "hex").reverse();
}

for (const name of readdirSync(folder)) {
  const file = JSON.parse(readFileSync(join(folder, name), "utf8")) as KeyFile;
  if (file.N <= 16) continue;
  const cheap = { ...file, N: 16, r: 1, p: 1 };
  const text = JSON.stringify({ ...cheap, data: sealed(opened(file), cheap) });
  writeFileSync(join(folder, createHash("sha256").update(text).digest("hex")), text, { mode: 0o400 });
  rmSync(join(folder, name));
}
