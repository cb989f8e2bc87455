import { createCipheriv, createHash, randomBytes, scryptSync } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `bun cheap-repository.ts`: makes the repository of restic in the folder $RESTIC_REPOSITORY as `restic init` does, with a key
 * that costs nothing to derive. restic takes half a second of CPU to make a repository, and a sixth of one to open it in each
 * command. Fails where the folder holds one. Design of restic, chapters "Repository Format" and "Keys, Encryption and MAC".
 */
const { RESTIC_REPOSITORY: repository = "", RESTIC_PASSWORD: password = "" } = process.env;

interface Keys {
  encrypt: Buffer;
  /** Of the MAC: what encrypts the nonce, and the factor. */
  k: Buffer;
  r: Buffer;
}

const keysOf = (bytes: Buffer): Keys => ({
  encrypt: bytes.subarray(0, 32),
  k: bytes.subarray(32, 48),
  r: bytes.subarray(48, 64),
});

/** The nonce, the encrypted text, and its MAC. */
function sealed(text: string, { encrypt, k, r }: Keys): Buffer {
  const nonce = randomBytes(16);
  const encrypted = createCipheriv("aes-256-ctr", encrypt, nonce).update(text);
  const once = createCipheriv("aes-128-ecb", k, null).update(nonce);
  return Buffer.concat([nonce, encrypted, poly1305(encrypted, r, once)]);
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

if (existsSync(join(repository, "config"))) throw new Error("config file already exists");
const parts = Array.from({ length: 256 }, (_, part) => `data/${part.toString(16).padStart(2, "0")}`);
for (const folder of [...parts, "index", "keys", "locks", "snapshots"])
  mkdirSync(join(repository, folder), { recursive: true, mode: 0o700 });

const [master, salt] = [keysOf(randomBytes(64)), randomBytes(64)];
const cost = { N: 16, r: 1, p: 1 };
const keys = { mac: { k: master.k.toBase64(), r: master.r.toBase64() }, encrypt: master.encrypt.toBase64() };
const key = JSON.stringify({
  created: new Date().toISOString(),
  username: "root",
  hostname: "lane",
  kdf: "scrypt",
  ...cost,
  salt: salt.toBase64(),
  data: sealed(JSON.stringify(keys), keysOf(scryptSync(password, salt, 64, cost))).toBase64(),
});
const id = randomBytes(32).toString("hex");
// Any irreducible polynomial does; restic looks for another one each time, so that sizes of chunks say nothing about files.
const config = JSON.stringify({ version: 2, id, chunker_polynomial: "3da3358b4dc173" });
writeFileSync(join(repository, "keys", createHash("sha256").update(key).digest("hex")), key, { mode: 0o400 });
writeFileSync(join(repository, "config"), sealed(config, master), { mode: 0o400, flag: "wx" });
console.log(`created restic repository ${id.slice(0, 10)} at ${repository}`);
