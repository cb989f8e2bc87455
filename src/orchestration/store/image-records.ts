import type { ManifestKey } from "../api/manifest.ts";

export interface ImagePin extends ManifestKey {
  hash: string;
  generation: number;
  ref: string;
  imageId: string;
  /** `repository@sha256:…` when known: how it is pulled again. */
  digest: string | undefined;
  at: number;
}

export interface ImageReads {
  /** The current pin. */
  pinOf(key: ManifestKey): ImagePin | undefined;
  /** The newest pin of a spec that replicas are not made from any more, or not yet again. */
  pinOfSpec(key: ManifestKey, hash: string): ImagePin | undefined;
  /** Image id that a reference beside the main one, such as that of an init, has for this spec. */
  initImageOf(key: ManifestKey, hash: string, ref: string): string | undefined;
  /** `repository@sha256:…` of an image that something may run on; undefined where it came from no registry. */
  digestOf(imageId: string): string | undefined;
  /** Image ids that a pin or a good release refers to: what runs, and what a rollback may return to. */
  kept(): Set<string>;
  /** The same images, each with the resources that need it. */
  keptFor(): { scope: string; name: string; imageId: string }[];
  pulledList(): { imageId: string; ref: string; at: number }[];
}

export interface ImageWrites {
  /** The image that (key, spec hash, generation) runs on; replaces the current pin, older ones stay as history (capped). */
  pin(pin: ImagePin): void;
  /** The image that inits of a spec run on where they name `ref`. */
  pinInit(init: ManifestKey & { hash: string; ref: string; imageId: string }): void;
  /** Remembers how an image is pulled again. */
  knowDigest(imageId: string, digest: string): void;
  /** Forgets the digests of images that nothing runs on or returns to, and of former specs what their inits ran on. */
  trim(): void;
  /** Remembers that we brought this image to the machine: only such images are ever collected. */
  pulled(imageId: string, ref: string, now: number): void;
  forgetPulled(imageId: string): void;
}
