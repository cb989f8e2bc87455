import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import type { VolumeOwner } from "./workload.ts";

/** The largest number that container engines take for a user or a group. */
const idMax = 2_147_483_647;

/** `uid` or `uid:gid`, in numbers: the server does not know the names of users inside an image. */
export function parseVolumeOwner(text: string): Parsed<VolumeOwner> {
  const [, uid, gid] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(text) ?? [];
  if (uid === undefined) {
    return unreadable(`"${text}" is not an owner; write the numbers of user and group: "1000" or "1000:1000"`);
  }
  const tooLarge = [uid, gid].find((id) => Number(id ?? 0) > idMax);
  if (tooLarge !== undefined) return unreadable(`"${text}" has the number ${tooLarge}; at most ${idMax} is possible`);
  return parsed({ uid: Number(uid), gid: gid === undefined ? undefined : Number(gid) });
}

/** What a decoded spec says; undefined where it says nothing that can be read. */
export function volumeOwner(spec: { volumeOwner: { read: Parsed<VolumeOwner> } | undefined }): VolumeOwner | undefined {
  return spec.volumeOwner?.read.ok === true ? spec.volumeOwner.read.value : undefined;
}
