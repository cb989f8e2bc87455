import { randomBytes } from "node:crypto";
import { access, chmod, link, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../wire/failure.ts";
import { type Secret, secret } from "../words/secret.ts";
import { syncFolder, temporaryName } from "./atomic-write.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";
import { besideDatabases, type Layout } from "./layout.ts";

export type Key = Secret<Uint8Array>;

const keyBytes = 32;
const mode = 0o600;

/**
 * The key that seals values at rest: 32 random bytes as base64, made at the first start. Fails `conflict` when a
 * database is there without its key (a new key could not open what the old one sealed), the key without its database,
 * or the index of the identity service without the database it was made from, and `invalid` when the file does not hold
 * a key.
 */
export async function loadKey(layout: Layout): Promise<Key> {
  const found = await readKey(layout.key);
  if (found !== undefined && (await exists(layout.database))) {
    await refuseLostUsers(layout);
    return found;
  }
  // A new database would know nothing of what runs, and look as if nothing ever had.
  if (found !== undefined) throw databaseMissing(layout);
  // What is sealed in either of them opens with their own key alone.
  for (const database of [layout.database, ...Object.values(besideDatabases(layout))]) {
    if (await exists(database)) throw keyMissing(layout, database);
  }
  const key = randomBytes(keyBytes);
  await createKey(layout.key, encodeKey(key));
  return secret<Uint8Array>(key);
}

export function encodeKey(key: Uint8Array): string {
  return `${Buffer.from(key).toString("base64")}\n`;
}

/** Undefined when there is no file. */
export async function readKey(path: string): Promise<Key | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
    // Copied back by hand it may be readable for everyone.
    await chmod(path, mode);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw diskFailure(error, path);
  }
  return secret(decodeKey(text.trim(), path));
}

function decodeKey(text: string, path: string): Uint8Array {
  const key = Buffer.from(text, "base64");
  if (key.length === keyBytes && key.toString("base64") === text) return new Uint8Array(key);
  throw new Failure(
    "invalid",
    `key file "${path}" does not hold ${keyBytes} bytes in base64: put the right key back, or restore a backup with \`berth restore FILE\``,
  );
}

/** Never over an existing key: a link fails where the name is taken, and appears with its content whole. */
async function createKey(path: string, content: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    throw diskFailure(error, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

function keyMissing(layout: Layout, database: string): Failure {
  return new Failure(
    "conflict",
    `database "${database}" is there but its key "${layout.key}" is missing: put the key file back, or restore a backup with \`berth restore FILE\``,
  );
}

function databaseMissing(layout: Layout): Failure {
  return new Failure(
    "conflict",
    `key "${layout.key}" is there but its database "${layout.database}" is missing: put the database back, or restore a backup with \`berth restore FILE\`; to begin with nothing, move the key and identity.db away too (running containers stay as they are)`,
  );
}

/** A new database in its place would be an empty one, and every user and key of an app lost silently. */
async function refuseLostUsers({ identityDatabase, identityIndex }: Layout): Promise<void> {
  if ((await exists(identityDatabase)) || !(await exists(identityIndex))) return;
  throw new Failure(
    "conflict",
    `the users' database "${identityDatabase}" is missing, yet there is an index of it: put the database back, or restore a backup with \`berth restore FILE\`; to begin without users, move "${identityIndex}" away too`,
  );
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
