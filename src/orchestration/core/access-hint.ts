import { namedVolume, ownsVolume } from "./named-volumes.ts";
import type { Naming } from "./naming.ts";
import type { DecodedPod } from "./spec/pod.ts";
import { volumeOwner } from "./volume-owner.ts";
import { plainPath } from "./volumes.ts";

/** A mount as the engine tells it. */
interface SeenMount {
  type: string;
  source: string;
  destination: string;
  rw: boolean;
}

/** Numbers of a user or of the owner of a file. */
interface Account {
  uid: number;
  gid: number;
}

/** Who a program is, and whose a folder is. */
interface Access {
  user: Account;
  folder: Account & { mode: number; isEmpty: boolean };
}

/** A mount that a program could not use, as its own output says. */
export interface RefusedMount {
  mount: SeenMount;
  refusal: "denied" | "read-only";
}

const denied = /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b/i;
const readOnly = /read-only file system|\bEROFS\b/i;

/** The mount that the newest line of a program's output names with a refusal; undefined where none does. */
export function refusedMount(lines: readonly string[], mounts: readonly SeenMount[]): RefusedMount | undefined {
  for (const line of lines.toReversed()) {
    const refusal = denied.test(line) ? "denied" : readOnly.test(line) ? "read-only" : undefined;
    if (refusal === undefined) continue;
    const [mount] = mounts
      .filter(({ destination }) => namesPath(line, destination))
      .sort((a, b) => b.destination.length - a.destination.length);
    if (mount !== undefined) return { mount, refusal };
  }
  return undefined;
}

/** Whether any line speaks of a refusal at all. */
export function hasRefusal(lines: readonly string[]): boolean {
  return lines.some((line) => denied.test(line) || readOnly.test(line));
}

/** Whether the path, or one below it, is in the line as a whole: `/data` is in `'/data/x'`, and not in `/data2`. */
function namesPath(line: string, path: string): boolean {
  for (let at = line.indexOf(path); at >= 0; at = line.indexOf(path, at + 1)) {
    const isBegin = !/[\w/.~-]/.test(line[at - 1] ?? " ");
    const isEnd = /^(?:\/|\.?(?:[^\w.-]|$))/.test(line.slice(at + path.length));
    if (isBegin && isEnd) return true;
  }
  return false;
}

/** Mount paths where `volume_owner` has an effect. */
export function ownedPaths(scope: string, pod: DecodedPod, names: Naming): string[] {
  const named = pod.volumes.flatMap(({ read: mount }) => {
    const volume = mount.ok && !mount.value.readOnly ? namedVolume(scope, mount.value) : undefined;
    return mount.ok && volume !== undefined && ownsVolume(scope, volume, names) ? [mount.value.target] : [];
  });
  const claims = pod.volumeClaims.flatMap(({ mountPath }) => (mountPath === undefined ? [] : [mountPath]));
  return [...named, ...claims].map(plainPath);
}

/** Whether `volume_owner` has an effect on a mount path, and is another one than this user. */
export function canOwn(path: string, user: Account, of: { scope: string; pod: DecodedPod; names: Naming }): boolean {
  const owner = volumeOwner(of.pod);
  const isOwner = owner !== undefined && owner.uid === user.uid && (owner.gid ?? user.gid) === user.gid;
  return !isOwner && ownedPaths(of.scope, of.pod, of.names).includes(path);
}

interface Refused extends RefusedMount {
  /** Undefined where the engine cannot tell. */
  access: Access | undefined;
  /** `shop/web`, or `shop/db.0` for one ordinal. */
  ref: string;
  /** See `canOwn`. */
  canOwn: boolean;
}

/** What to do about a mount that refuses the program; undefined where the facts do not show why it does. */
export function accessHint({ mount, refusal, access, ref, canOwn }: Refused): string | undefined {
  const { destination, source, type, rw } = mount;
  if (refusal === "read-only") {
    return rw ? undefined : `${destination} is mounted read-only, so the program cannot write below it`;
  }
  if (access === undefined || !isStranger(access)) return undefined;
  const { user, folder } = access;
  const [wanted, found] = [`${user.uid}:${user.gid}`, `${folder.uid}:${folder.gid}`];
  if (type === "bind") {
    return (
      `the program runs as ${wanted}; the folder ${source} of the server, mounted at ${destination}, belongs to ` +
      `${found}. Run on the server: chown ${wanted} ${source}`
    );
  }
  if (type !== "volume") return undefined;
  const facts = `the program runs as ${wanted}; the volume at ${destination} belongs to ${found}`;
  if (folder.isEmpty && canOwn) {
    return `${facts} and is empty. Set volume_owner: "${wanted}" in the manifest, then: berth apply -f FILE`;
  }
  return `${facts}. Change its owner: berth run ${ref} -u 0 --entrypoint chown -- -R ${wanted} ${destination}`;
}

/** Whether neither owner nor group of the folder, and others may not write: further groups of the program are not known. */
function isStranger({ user, folder }: Access): boolean {
  const mayWrite = (folder.mode & 0o002) !== 0 || (folder.mode & 0o020) !== 0;
  return user.uid !== 0 && user.uid !== folder.uid && user.gid !== folder.gid && !mayWrite;
}
