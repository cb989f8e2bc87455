import { Failure } from "../../api/failure.ts";
import { canonicalReference } from "../reference.ts";
import type { Image, RegistryAuth } from "../runtime.ts";

export interface ImageFacts {
  id?: string;
  /** `sha256:…` of the manifest. */
  digest?: string;
  env?: Record<string, string>;
  sizeBytes?: number;
}

export interface RemoteFacts extends ImageFacts {
  /** When set, a pull needs exactly these. */
  auth?: { username: string; password: string };
}

/** Images on the machine, and those that a pull would find. */
export interface ImageShelf {
  add(ref: string, facts?: ImageFacts): Image;
  addRemote(ref: string, facts?: RemoteFacts): void;
  find(refOrId: string): Image | undefined;
  pull(ref: string, auth: RegistryAuth | undefined): Image;
  list(): Image[];
  remove(refOrId: string, inUse: (imageId: string) => boolean): void;
}

const digestOf = (seed: string) => `sha256:${new Bun.CryptoHasher("sha256").update(seed).digest("hex")}`;
const repositoryOf = (ref: string) => ref.replace(/@.*$/, "").replace(/:[^/:]*$/, "");

export function createImageShelf(now: () => number): ImageShelf {
  const images = new Map<string, Image>();
  const tags = new Map<string, string>();
  const remote = new Map<string, RemoteFacts>();

  const keyOf = (ref: string) => {
    const key = canonicalReference(ref);
    if (key === undefined) throw new Failure("invalid", `image "${ref}" is not a reference`, { reason: "ImagePull" });
    return key;
  };

  const find = (refOrId: string) =>
    images.get(refOrId) ??
    images.get(`sha256:${refOrId}`) ??
    images.get(tags.get(canonicalReference(refOrId) ?? "") ?? "");

  const untag = (key: string) => {
    const image = images.get(tags.get(key) ?? "");
    tags.delete(key);
    if (image !== undefined) images.set(image.id, { ...image, tags: image.tags.filter((tag) => keyOf(tag) !== key) });
  };

  const add = (ref: string, facts: ImageFacts = {}): Image => {
    const key = keyOf(ref);
    const id = facts.id ?? digestOf(`image ${key}`);
    const digest = `${repositoryOf(ref)}@${facts.digest ?? digestOf(`manifest ${key} ${id}`)}`;
    untag(key);
    const before = images.get(id);
    const image: Image = {
      id,
      tags: [...(before?.tags ?? []), ...(ref.includes("@") ? [] : [ref])],
      digests: [...new Set([...(before?.digests ?? []), digest])],
      sizeBytes: facts.sizeBytes ?? before?.sizeBytes ?? 1024,
      createdAt: before?.createdAt ?? now(),
      env: facts.env ?? before?.env ?? {},
    };
    images.set(id, image);
    tags.set(key, id);
    tags.set(keyOf(digest), id);
    return image;
  };

  const pull = (ref: string, auth: RegistryAuth | undefined): Image => {
    const facts = remote.get(keyOf(ref));
    const words = `cannot pull image "${ref}"`;
    if (facts === undefined) throw new Failure("conflict", `${words}: manifest unknown`, { reason: "ImagePull" });
    const known = facts.auth;
    if (known !== undefined && (auth?.username !== known.username || auth.password !== known.password)) {
      throw new Failure("conflict", `${words}: unauthorized`, { reason: "RegistryAuth" });
    }
    return add(ref, facts);
  };

  const remove: ImageShelf["remove"] = (refOrId, inUse) => {
    const image = find(refOrId);
    if (image === undefined) return;
    const byTag = image.tags.length > 1 && canonicalReference(refOrId);
    if (byTag && image.tags.some((tag) => keyOf(tag) === byTag)) return untag(byTag);
    if (inUse(image.id)) throw new Failure("conflict", `cannot remove image "${refOrId}": a container uses it`);
    images.delete(image.id);
    for (const [key, id] of tags) if (id === image.id) tags.delete(key);
  };

  return {
    add,
    addRemote: (ref, facts = {}) => {
      const id = facts.id ?? digestOf(`image ${keyOf(ref)}`);
      const digest = facts.digest ?? digestOf(`manifest ${keyOf(ref)} ${id}`);
      remote.set(keyOf(ref), { ...facts, id, digest });
      remote.set(keyOf(`${repositoryOf(ref)}@${digest}`), { ...facts, id, digest });
    },
    find,
    pull,
    list: () => Array.from(images.values(), (image) => ({ ...image, env: {} })),
    remove,
  };
}
