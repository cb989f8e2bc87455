import { Failure } from "../../../src/base/wire/failure.ts";
import { canonicalReference } from "../../../src/orchestration/core/image-reference.ts";
import type { Image, ImageBuild, RegistryAuth } from "../../../src/orchestration/engine/machine.ts";

export interface ImageFacts {
  id?: string;
  /** `sha256:…` of the manifest. */
  digest?: string;
  env?: Record<string, string>;
  entrypoint?: string[];
  command?: string[];
  labels?: Readonly<Record<string, string>>;
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
  /** Reads the whole archive; the image depends on its bytes and the labels alone. */
  build(request: ImageBuild): Promise<Image>;
  list(): Image[];
  tag(id: string, ref: string): boolean;
  remove(refOrId: string, inUse: (imageId: string) => boolean): void;
}

export function createImageShelf(now: () => number): ImageShelf {
  const shelf: Shelf = { images: new Map(), tags: new Map(), remote: new Map(), now };
  return {
    add: (ref, facts = {}) => add(shelf, ref, facts),
    addRemote: (ref, facts = {}) => addRemote(shelf, ref, facts),
    find: (refOrId) => find(shelf, refOrId),
    pull: (ref, auth) => pull(shelf, ref, auth),
    build: async ({ context, ref, args, labels, onOutput, signal }) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of context) pieces.push(piece);
      signal.throwIfAborted();
      onOutput("Step 1/1 : built in memory\n");
      // A build that goes on until it is ended.
      if (args.HOLD === "true")
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const used = Object.keys(args).length === 0 ? "" : JSON.stringify(args);
      const id = digestOf(Buffer.concat(pieces).toString("base64") + used + JSON.stringify(labels));
      return add(shelf, ref, { id, labels });
    },
    tag: (id, ref) => tag(shelf, id, ref),
    list: () =>
      Array.from(shelf.images.values(), (image) => ({ ...image, env: {}, entrypoint: [], command: [], labels: {} })),
    remove: (refOrId, inUse) => remove(shelf, refOrId, inUse),
  };
}

/** Keys of `tags` and `remote` are canonical references, with tag or digest; values of `tags` are image ids. */
interface Shelf {
  images: Map<string, Image>;
  tags: Map<string, string>;
  remote: Map<string, RemoteFacts>;
  now: () => number;
}

const digestOf = (seed: string) => `sha256:${new Bun.CryptoHasher("sha256").update(seed).digest("hex")}`;
const repositoryOf = (ref: string) => ref.replace(/@.*$/, "").replace(/:[^/:]*$/, "");

function keyOf(ref: string): string {
  const key = canonicalReference(ref);
  if (key === undefined) throw new Failure("invalid", `image "${ref}" is not a reference`, { reason: "ImagePull" });
  return key;
}

function find({ images, tags }: Shelf, refOrId: string): Image | undefined {
  const byId = images.get(refOrId) ?? images.get(`sha256:${refOrId}`);
  return byId ?? images.get(tags.get(canonicalReference(refOrId) ?? "") ?? "");
}

function add(shelf: Shelf, ref: string, facts: ImageFacts): Image {
  const key = keyOf(ref);
  const id = facts.id ?? digestOf(`image ${key}`);
  const digest = `${repositoryOf(ref)}@${facts.digest ?? digestOf(`manifest ${key} ${id}`)}`;
  untag(shelf, key);
  const before = shelf.images.get(id);
  const image: Image = {
    id,
    tags: [...(before?.tags ?? []), ...(ref.includes("@") ? [] : [ref])],
    digests: [...new Set([...(before?.digests ?? []), digest])],
    sizeBytes: facts.sizeBytes ?? before?.sizeBytes ?? 1024,
    createdAt: before?.createdAt ?? shelf.now(),
    env: facts.env ?? before?.env ?? {},
    entrypoint: facts.entrypoint ?? before?.entrypoint ?? [],
    command: facts.command ?? before?.command ?? [],
    labels: { ...(facts.labels ?? before?.labels) },
  };
  shelf.images.set(id, image);
  shelf.tags.set(key, id).set(keyOf(digest), id);
  return image;
}

function tag(shelf: Shelf, id: string, ref: string): boolean {
  const key = keyOf(ref);
  if (!shelf.images.has(id)) return false;
  untag(shelf, key);
  const image = shelf.images.get(id);
  if (image !== undefined) shelf.images.set(id, { ...image, tags: [...image.tags, ref] });
  shelf.tags.set(key, id);
  return true;
}

/** The image stays, under its id and its other names. */
function untag({ images, tags }: Shelf, key: string): void {
  const image = images.get(tags.get(key) ?? "");
  tags.delete(key);
  if (image !== undefined) images.set(image.id, { ...image, tags: image.tags.filter((tag) => keyOf(tag) !== key) });
}

function addRemote({ remote }: Shelf, ref: string, facts: RemoteFacts): void {
  const key = keyOf(ref);
  const id = facts.id ?? digestOf(`image ${key}`);
  const digest = facts.digest ?? digestOf(`manifest ${key} ${id}`);
  remote.set(key, { ...facts, id, digest });
  remote.set(keyOf(`${repositoryOf(ref)}@${digest}`), { ...facts, id, digest });
}

function pull(shelf: Shelf, ref: string, auth: RegistryAuth | undefined): Image {
  const facts = shelf.remote.get(keyOf(ref));
  const words = `cannot pull image "${ref}"`;
  if (facts === undefined) throw new Failure("conflict", `${words}: manifest unknown`, { reason: "ImagePull" });
  const known = facts.auth;
  if (known !== undefined && (auth?.username !== known.username || auth.password !== known.password)) {
    throw new Failure("conflict", `${words}: unauthorized; check the credentials`, { reason: "RegistryAuth" });
  }
  return add(shelf, ref, facts);
}

function remove(shelf: Shelf, refOrId: string, inUse: (imageId: string) => boolean): void {
  const image = find(shelf, refOrId);
  if (image === undefined) return;
  const key = canonicalReference(refOrId);
  // One name of several: only the name goes, used or not.
  if (key !== undefined && image.tags.length > 1 && image.tags.some((tag) => keyOf(tag) === key)) {
    untag(shelf, key);
    return;
  }
  // The engine removes no image by its id that has two tags of one repository.
  const names = [...new Set(image.tags.map(keyOf))];
  if (new Set(names.map(repositoryOf)).size < names.length)
    throw new Failure("conflict", `cannot remove image "${refOrId}": it has several names`);
  if (inUse(image.id)) throw new Failure("conflict", `cannot remove image "${refOrId}": a container uses it`);
  shelf.images.delete(image.id);
  for (const [name, id] of shelf.tags) if (id === image.id) shelf.tags.delete(name);
}
