import type { ManifestKey, Spec } from "../api/manifest.ts";
import type { Maker } from "../core/plugins/maker.ts";

/** One run of a plugin. Times are epoch milliseconds; arguments and everything that it said are sealed at rest. */
export interface PluginRunRecord {
  id: string;
  plugin: string;
  version: string;
  command: string;
  args: string[];
  actor: string;
  /** `interrupted`: the server ended while it ran. */
  status: "running" | "succeeded" | "failed" | "timed_out" | "cancelled" | "interrupted";
  startedAt: number;
  endedAt: number | undefined;
  exitCode: number | undefined;
  error: string | undefined;
  /** Labels of the actions that were carried out. */
  applied: string[];
  /** Last lines of its standard error. */
  tail: string[];
}

export interface PluginRunReads {
  /** Newest first. */
  list(filter: { plugin?: string; limit: number }): PluginRunRecord[];
  /** Those under way: what a restart has to end. */
  unfinished(): PluginRunRecord[];
}

export interface PluginRunWrites {
  /** Inserts or replaces by id. The newest `pluginRunsKept` stay, and those under way. */
  put(run: PluginRunRecord): void;
}

/**
 * A plugin block as it was applied, without `spec.plugin`, and which plugin expanded it; the spec is sealed at rest. Times
 * are epoch milliseconds.
 */
export interface BlockRecord extends ManifestKey, Maker {
  version: string;
  spec: Spec;
  /** A caller without the rights of the machine stored this spec. */
  lesser?: boolean | undefined;
  /** What of its plugin's answer is not served. */
  warnings?: readonly string[] | undefined;
  revision: number;
  createdAt: number;
  updatedAt: number;
}

export interface BlockReads {
  get(key: ManifestKey): BlockRecord | undefined;
  /** Ordered by kind, scope, name. All filters optional. */
  list(filter?: { kind?: string; scope?: string; name?: string }): BlockRecord[];
  /** Who they are and whose, without their specs; in the same order. */
  keys(): (ManifestKey & Maker)[];
  /** The manifests that are its own and still stored, in order: what it was expanded into, and what actions applied for it. */
  children(block: ManifestKey): ManifestKey[];
  /** Those that it was expanded into. */
  expanded(block: ManifestKey): ManifestKey[];
  /** The block that a manifest came from. */
  ownerOf(child: ManifestKey): ManifestKey | undefined;
}

export interface BlockWrites {
  /** Records who made a block of before makers were recorded; its spec and revision stay. */
  setMaker(block: ManifestKey, maker: Maker): void;
  /** The revision moves with the spec only. */
  put(
    block: Omit<BlockRecord, "revision" | "createdAt" | "updatedAt">,
    now: number,
  ): { block: BlockRecord; previous: BlockRecord | undefined };
  /** Replaces what it was expanded into. A child of another block changes hands: ask `ownerOf` first. */
  setChildren(block: ManifestKey, children: readonly ManifestKey[]): void;
  /** An action of its plugin applied this for the block. What has an owner keeps it. */
  adopt(block: ManifestKey, child: ManifestKey): void;
  /** The child belongs to no block from now on. */
  release(child: ManifestKey): void;
  /** Forgets the block and whose children they were; the manifests stay. False when it was not there. */
  delete(block: ManifestKey): boolean;
}
