import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey, Spec } from "../../api/manifest.ts";
import { canonicalReference, parseImageReference, registryHost } from "../../core/image-reference.ts";
import { MASK } from "../../core/mask.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import type { Image, RegistryAuth } from "../../engine/machine.ts";
import type { Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";

interface Pull {
  /** Who needs it, for the event. */
  owner: ManifestKey;
  ref: string;
  /** Specs of registries that are not stored yet. */
  registries?: readonly Spec[];
}

/** Asks the registry, whether or not an image of that name is present. */
export async function pull(context: Context, { owner, ref, registries = [] }: Pull): Promise<Image> {
  await refuseWhenFull(context, ref);
  const stored = context.store.manifests.list({ kind: "registry" }).map(({ spec }) => spec);
  const image = await context.engine.pull(ref, registryAuth([...registries, ...stored], ref));
  const now = context.clock.now();
  await context.store.write((tx) => {
    tx.images.pulled(image.id, ref, now);
    rememberDigest(tx, image, ref);
    const { kind, scope, name } = owner;
    tx.events.append(
      { actor: "reconciler", action: "image.pull", kind, scope, name, detail: { ref, id: image.id } },
      now,
    );
  });
  return image;
}

async function refuseWhenFull(context: Context, ref: string): Promise<void> {
  const free = await context.engine.freeBytes();
  const floor = context.limits.diskFloorBytes;
  if (free === undefined || free >= floor) return;
  const mib = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MiB`;
  throw new Failure(
    "storage_full",
    `not pulling "${ref}": ${mib(free)} free where images are kept, the floor is ${mib(floor)}; free some space (docker image prune)`,
    { reason: "DiskLow" },
  );
}

/** Login from the registry spec of the reference's host; undefined when there is none. A masked secret does not count. */
function registryAuth(registries: readonly Spec[], ref: string): RegistryAuth | undefined {
  const host = parseImageReference(ref)?.registry;
  for (const spec of registries) {
    const { url, username, secret } = decodeSpec("registry", spec);
    if (url === undefined || registryHost(url) !== host) continue;
    if (username === undefined || secret === undefined || secret === MASK) continue;
    return { username, password: secret, serverAddress: stripScheme(url) };
  }
  return undefined;
}

function stripScheme(url: string): string {
  return url.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
}

/** An image may have come from several registries: the one that the manifest names is asked again. */
export function digestFor({ digests }: Image, ref: string): string | undefined {
  const of = (text: string) => canonicalReference(text)?.replace(/(?::[^:/@]*)?(?:@.*)?$/, "");
  return digests.find((digest) => of(digest) === of(ref)) ?? digests[0];
}

export function rememberDigest(tx: Transaction, image: Image, ref: string): void {
  const digest = digestFor(image, ref);
  if (digest !== undefined) tx.images.knowDigest(image.id, digest);
}
