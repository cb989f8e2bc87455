import { type Static, Type } from "@sinclair/typebox";

/** Core kinds in the order in which lists and error texts show them. */
export const coreKinds = ["deployment", "statefulset", "ingress", "job", "cronjob", "asset", "registry"] as const;
export type CoreKind = (typeof coreKinds)[number];

/** Kinds whose containers the reconciler keeps running. */
export const podKinds = ["deployment", "statefulset"] as const;
export type PodKind = (typeof podKinds)[number];

/** Kinds that make containers at all: their environment comes from config buckets. */
export const containerKinds = ["deployment", "statefulset", "job", "cronjob"] as const;

/** A JSON object whose shape the kind decides. */
export type Spec = Record<string, unknown>;

/** Identity of a manifest. `scope` is the empty string for registries and unscoped assets. */
export interface ManifestKey {
  kind: string;
  scope: string;
  name: string;
}

/** What a stored manifest carries beside its spec (docs/contract/orchestration.md, 2.1). Times are ISO 8601. */
const ManifestMetadata = Type.Object({
  revision: Type.Integer(),
  created_at: Type.Optional(Type.String()),
  updated_at: Type.Optional(Type.String()),
});

export const Manifest = Type.Object({
  kind: Type.String(),
  scope: Type.Optional(Type.String()),
  name: Type.String(),
  spec: Type.Record(Type.String(), Type.Unknown()),
  metadata: Type.Optional(ManifestMetadata),
});
export type Manifest = Static<typeof Manifest>;

/** A manifest as the server keeps it: identity complete, spec normalised. Times are epoch milliseconds. */
export interface StoredManifest {
  kind: CoreKind;
  scope: string;
  name: string;
  spec: Spec;
  revision: number;
  /** Raised by restarts and config changes; a container with a lower one is replaced. */
  generation: number;
  createdAt: number;
  updatedAt: number;
}

/** `kind/scope/name`, or `kind/name` without a scope: how references print everywhere. */
export function formatKey(key: ManifestKey): string {
  return key.scope === "" ? `${key.kind}/${key.name}` : `${key.kind}/${key.scope}/${key.name}`;
}

export function sameKey(a: ManifestKey, b: ManifestKey): boolean {
  return a.kind === b.kind && a.scope === b.scope && a.name === b.name;
}
