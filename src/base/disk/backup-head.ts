import { type Beside, besides } from "./layout.ts";
import { Failure } from "../wire/failure.ts";

/** What a backup says about itself in clear: `head -2 FILE` shows it. */
export interface BackupHead {
  /** Epoch milliseconds. */
  createdAt: number;
  databaseBytes: number;
  /** Sizes of the databases behind it; those that the backup does not have are left out. */
  besideBytes: Partial<Record<Beside, number>>;
  /** Undefined when the backup has no passphrase. */
  sealing: { salt: Uint8Array; nonce: Uint8Array } | undefined;
}

export const headBytesMax = 4_096;

const magic = "berth-backup ";
/**
 * Also stands for the cipher and the cost of the passphrase. 2 is 1 with the database of the identity service behind the
 * first, 3 one that has that of the observability plane.
 */
const versionOf = ({ besideBytes: { identity, observability } }: Pick<BackupHead, "besideBytes">) =>
  observability !== undefined ? 3 : identity !== undefined ? 2 : 1;

export function encodeHead(head: BackupHead): Uint8Array {
  const { sealing } = head;
  const fields = {
    created_at: new Date(head.createdAt).toISOString(),
    database_bytes: head.databaseBytes,
    ...Object.fromEntries(
      besides.flatMap((name) =>
        head.besideBytes[name] === undefined ? [] : [[`${name}_bytes`, head.besideBytes[name]]],
      ),
    ),
    sealed: sealing !== undefined,
    ...(sealing && { salt: base64(sealing.salt), nonce: base64(sealing.nonce) }),
  };
  return Buffer.from(`${magic}${versionOf(head)}\n${JSON.stringify(fields)}\n`);
}

/** Reads the head from the start of a file; `headBytes` is exactly what it takes up. */
export function decodeHead(start: Uint8Array, path: string): { head: BackupHead; headBytes: Uint8Array } {
  const bytes = Buffer.from(start);
  const firstEnd = bytes.indexOf("\n");
  const secondEnd = bytes.indexOf("\n", firstEnd + 1);
  const first = bytes.toString("latin1", 0, Math.max(firstEnd, 0));
  if (!first.startsWith(magic)) throw new Failure("invalid", `"${path}" is not a backup made by berth`);
  if (![1, 2, 3].some((version) => first === `${magic}${version}`)) {
    throw new Failure("invalid", `backup "${path}" has format "${first}": restore it with the berth that made it`);
  }
  const head = secondEnd < 0 ? undefined : decodeFields(bytes.toString("utf8", firstEnd + 1, secondEnd));
  if (!head || first !== `${magic}${versionOf(head)}`)
    throw new Failure("invalid", `backup "${path}" is damaged (its head): use another one`);
  return { head, headBytes: start.subarray(0, secondEnd + 1) };
}

function decodeFields(text: string): BackupHead | undefined {
  const fields = parseObject(text);
  const createdAt = Date.parse(String(fields.created_at));
  const databaseBytes = byteCount(fields.database_bytes);
  if (Number.isNaN(createdAt) || databaseBytes === undefined) return undefined;
  const besideBytes: BackupHead["besideBytes"] = {};
  for (const name of besides) {
    const written = fields[`${name}_bytes`];
    if (written === undefined) continue;
    const bytes = byteCount(written);
    if (bytes === undefined) return undefined;
    besideBytes[name] = bytes;
  }
  const sizes = { databaseBytes, besideBytes };
  if (fields.sealed === false) return { createdAt, ...sizes, sealing: undefined };
  const { salt, nonce } = fields;
  if (fields.sealed !== true || typeof salt !== "string" || typeof nonce !== "string") return undefined;
  const sealing = { salt: Buffer.from(salt, "base64"), nonce: Buffer.from(nonce, "base64") };
  return { createdAt, ...sizes, sealing };
}

function byteCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
