import { createCipheriv, createDecipheriv } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { positionText, readPosition } from "../core/cursor.ts";
import type { Secret } from "../../base/words/secret.ts";

/** Which list a cursor belongs to. */
interface CursorPlace {
  /** `seq` of its instance. */
  instance: number;
  list: "users" | "sessions" | "audit" | "users search" | "sessions search" | "audit search";
}

/**
 * Where lists go on, sealed: row numbers count over all instances, and would tell a tenant how many users the others
 * win. A cursor is good for the list of the instance that gave it.
 */
export interface Cursors {
  write(place: CursorPlace, position: readonly number[]): string;
  /** Undefined without a cursor. Fails `invalid` for one that this list has not given. */
  read(place: CursorPlace, text: string | undefined, parts: number): number[] | undefined;
}

const cipher = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

interface CursorParts {
  derive: (purpose: string) => Secret<Uint8Array>;
  randomBytes: (count: number) => Uint8Array;
}

export function createCursors({ derive, randomBytes }: CursorParts): Cursors {
  const key = derive("identity cursor v1");
  const placeText = ({ instance, list }: CursorPlace) => Buffer.from(`${instance} ${list}`);

  function open(place: CursorPlace, text: string): string {
    const sealed = Buffer.from(text, "base64url");
    if (sealed.length <= ivBytes + tagBytes || sealed.toString("base64url") !== text) return "";
    const decipher = createDecipheriv(cipher, key.reveal(), sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(placeText(place)).setAuthTag(sealed.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]).toString();
    } catch {
      return "";
    }
  }

  return {
    write(place, position) {
      const iv = randomBytes(ivBytes);
      const sealing = createCipheriv(cipher, key.reveal(), iv, { authTagLength: tagBytes }).setAAD(placeText(place));
      const sealed = Buffer.concat([sealing.update(positionText(position)), sealing.final()]);
      return Buffer.concat([iv, sealed, sealing.getAuthTag()]).toString("base64url");
    },
    read(place, text, parts) {
      if (text === undefined) return undefined;
      const position = readPosition(open(place, text), parts);
      if (position === undefined) throw new Failure("invalid", "Invalid cursor");
      return position;
    },
  };
}
