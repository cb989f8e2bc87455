import { defaultSettings, type EffectiveSettings } from "../api/settings.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { IdentityStore } from "../store/open-store.ts";
import type { Instance, Key, SigningPair } from "../store/records.ts";

/** An instance with what every request to it needs. Never changed in place: after a write, the next reader loads it again. */
export interface InstanceEntry {
  instance: Instance;
  /** With every default filled in. */
  settings: EffectiveSettings;
  /** Newest first; `expiresAt` is still to be looked at. */
  keys: readonly Key[];
  /** RS256 pairs, newest first, likewise. */
  pairs: readonly SigningPair[];
}

interface KeyHolder {
  entry: InstanceEntry;
  /** Public: names the key in logs and the audit trail. */
  keyId: string;
  expiresAt: number;
}

/** Instances by whatever names them, kept in memory until something is written to any of them. */
export interface Directory {
  /** Undefined for a key that is unknown or has expired. */
  bySecretKey(value: string): KeyHolder | undefined;
  byPublishableKey(value: string): InstanceEntry | undefined;
  byId(id: string): InstanceEntry | undefined;
  bySeq(seq: number): InstanceEntry | undefined;
  /** Lower case, without port. */
  byHost(host: string): InstanceEntry | undefined;
  /** What instances have in common before it is known whose request it is. */
  overview(): Overview;
}

interface Overview {
  /** Headers that some instance takes its secret key from, and its publishable key; lower case. */
  secretKeyHeaders: readonly string[];
  publishableKeyHeaders: readonly string[];
  /** Some instance has a host name of its own. */
  hasHosts: boolean;
}

/** The settings of an instance with every default filled in. */
export function effectiveSettings({ settings }: Pick<Instance, "settings">): EffectiveSettings {
  return { ...defaultSettings, ...settings };
}

interface DirectoryParts {
  store: IdentityStore;
  clock: Pick<Clock, "now">;
  limits: { directoryMax: number };
}

export function createDirectory({ store, clock, limits }: DirectoryParts): Directory {
  const entries = new Map<number, InstanceEntry>();
  const secretKeys = new Map<string, KeyHolder>();
  const names = new Map<string, InstanceEntry>();
  let generation = store.generation();
  let overview: Overview | undefined;
  const refresh = () => {
    const full = entries.size + names.size + secretKeys.size > limits.directoryMax;
    if (generation === store.generation() && !full) return;
    generation = store.generation();
    overview = undefined;
    for (const map of [entries, secretKeys, names]) map.clear();
  };
  const entryOf = (instance: Instance | undefined): InstanceEntry | undefined => {
    if (instance === undefined) return undefined;
    const known = entries.get(instance.seq);
    if (known !== undefined) return known;
    const { seq } = instance;
    const settings = effectiveSettings(instance);
    const entry = { instance, settings, keys: store.keys.list(seq), pairs: store.signingPairs.list(seq) };
    entries.set(instance.seq, entry);
    return entry;
  };
  const named = (name: string, read: () => Instance | undefined): InstanceEntry | undefined => {
    refresh();
    const known = names.get(name);
    if (known !== undefined) return known;
    const entry = entryOf(read());
    // Only what was found is remembered: names that do not exist are without number.
    if (entry !== undefined) names.set(name, entry);
    return entry;
  };
  return {
    bySecretKey(value) {
      refresh();
      const id = Bun.SHA256.hash(value, "base64");
      const holder = secretKeys.get(id) ?? holderOf(Buffer.from(id, "base64"));
      if (holder === undefined || holder.expiresAt <= clock.now()) return undefined;
      secretKeys.set(id, holder);
      return holder;
    },
    byPublishableKey: (value) => named(`key ${value}`, () => store.instances.byPublishableKey(value)),
    byId: (id) => named(`id ${id}`, () => store.instances.get(id)),
    bySeq: (seq) => named(`seq ${seq}`, () => store.instances.bySeq(seq)),
    byHost: (host) => named(`host ${host}`, () => store.instances.byHost(host)),
    overview() {
      refresh();
      overview ??= overviewOf(store.instances.list());
      return overview;
    },
  };

  function holderOf(hash: Uint8Array): KeyHolder | undefined {
    const key = store.keys.byHash(hash);
    const entry = key && entryOf(store.instances.bySeq(key.instance));
    return entry && key && { entry, keyId: key.id, expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY };
  }
}

function overviewOf(instances: readonly Instance[]): Overview {
  const all = (pick: (settings: EffectiveSettings) => readonly string[]) => [
    ...new Set(instances.flatMap(({ settings }) => pick(effectiveSettings({ settings })))),
  ];
  return {
    secretKeyHeaders: all((settings) => settings.secret_key_headers.map((name) => name.toLowerCase())),
    publishableKeyHeaders: all((settings) => settings.publishable_key_headers.map((name) => name.toLowerCase())),
    hasHosts: instances.some(({ host }) => host !== undefined),
  };
}
