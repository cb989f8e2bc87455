/** Tag of the copies of the server's own state. */
export const stateTag = "berth-state";

/** Tag of every copy of a volume. */
export const volumeTag = "volume";

/** Tag of what the first pass over a volume has read while its app wrote: not a copy, and removed after the second pass. */
export const firstPassTag = "volume-first-pass";

/** One volume of an app, as the tags of its copies name it. */
export interface VolumeSubject {
  scope: string;
  kind: string;
  name: string;
  /** Name of the claim, or of the volume as the manifest names it. */
  claim: string;
  /** Number of the replica whose claim it is; undefined for a volume that all replicas share. */
  ordinal: number | undefined;
}

/** In place of a claim, which no manifest can call so: what the plugin of a block printed as all of its data. */
export const dumpClaim = "+dump";

/** The file of a copy that holds it. */
export const dumpFile = "dump";

export const isDump = ({ claim }: Pick<VolumeSubject, "claim">) => claim === dumpClaim;

/** In place of an ordinal: the tags of a shared volume are never a part of those of a claim with the same name. */
const sharedOrdinal = "none";

/** The tags that name a volume, without `volumeTag`. */
export function subjectTags({ scope, kind, name, claim, ordinal }: VolumeSubject): string[] {
  const ordinalTag = `ordinal=${ordinal ?? sharedOrdinal}`;
  return [`scope=${scope}`, `kind=${kind}`, `name=${name}`, `claim=${claim}`, ordinalTag];
}

/** Whose copy a snapshot is; undefined for one that is not of a volume. */
export function readSubject(tags: readonly string[]): VolumeSubject | undefined {
  if (!tags.includes(volumeTag)) return undefined;
  const tagOf = (key: string) => tags.find((tag) => tag.startsWith(`${key}=`))?.slice(key.length + 1);
  const [scope, kind, name, claim] = [tagOf("scope"), tagOf("kind"), tagOf("name"), tagOf("claim")];
  if (scope === undefined || kind === undefined || name === undefined || claim === undefined) return undefined;
  const ordinal = tagOf("ordinal") ?? sharedOrdinal;
  return { scope, kind, name, claim, ordinal: ordinal === sharedOrdinal ? undefined : Number(ordinal) };
}

/** What a run or a snapshot is of, for people: `shop/db/data/0`. */
export function whatOf({ scope, name, claim, ordinal }: VolumeSubject): string {
  return [scope, name, claim, ...(ordinal === undefined ? [] : [ordinal])].join("/");
}

/** What the copies of the server's own state are called. */
export const stateWhat = "state";

/** Tag of every copy of an image. */
const imageTag = "image";
const imageKey = "image=";

export const imageTags = (id: string): string[] => [imageTag, `${imageKey}${id}`];

/** The id of the image that a snapshot holds; undefined for one of something else. */
export function imageOf(tags: readonly string[]): string | undefined {
  if (!tags.includes(imageTag)) return undefined;
  return tags.find((tag) => tag.startsWith(imageKey))?.slice(imageKey.length);
}

/** What the copies of images are called. */
export const imagesWhat = "images";

/** Tags of the copies of what the server holds beside its state, by what they are called. */
export const partTags = { repositories: "berth-repositories", logs: "berth-logs" } as const;
export type PartName = keyof typeof partTags;

/** Undefined for a copy of something else. */
export const partOf = (tags: readonly string[]): PartName | undefined =>
  (Object.keys(partTags) as PartName[]).find((name) => tags.includes(partTags[name]));

const rootKey = "root=";

/** Owner and mode of the folder of a volume, `MODE.UID.GID`: restic copies what is in a folder, and not the folder itself. */
export const rootTag = (root: string) => `${rootKey}${root}`;

/** Undefined for a copy that does not say. */
export function readRoot(tags: readonly string[]): string | undefined {
  return tags.find((tag) => tag.startsWith(rootKey))?.slice(rootKey.length);
}
