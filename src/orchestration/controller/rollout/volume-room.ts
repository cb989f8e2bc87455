import { Failure } from "../../../base/wire/failure.ts";
import { keyText, parseKeyText } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { engineVolumeName, namedVolumeLabels, volumeUses } from "../../core/named-volumes.ts";
import type { PluginBackup } from "../../api/plugins/plugin-yml.ts";
import { isOwn, makerOf } from "../../core/plugins/maker.ts";
import { mayTouch } from "../../core/plugins/permissions.ts";
import { mayBackUp } from "../../plugins/plugin.ts";
import { isEngineVolumeName, scopedVolumeName } from "../../core/naming.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import type { ObservedPod } from "../../engine/pod.ts";
import type { Volume } from "../../engine/machine.ts";
import { claimLabels } from "../desired/volumes.ts";
import { leaveIngress } from "../pods/leave-ingress.ts";
import type { Context } from "../state/context.ts";
import { stopGently } from "../state/pod.ts";
import { isPodKind } from "../state/target.ts";
import type { ManifestHead } from "../../store/store.ts";

/** A volume that an app has, whether the engine has it or not. */
interface AppVolume extends ManifestKey {
  /** Name of the claim, or of the volume as the manifest names it. */
  claim: string;
  /** Number of the replica whose claim it is; undefined for a volume that all replicas share. */
  ordinal: number | undefined;
  /** Its name in the engine. */
  volume: string;
  /** What the engine's volume carries, where this server makes it. */
  labels: Record<string, string>;
}

/** `refused`: why none of these commands is run. */
type DeclaredDump = PluginBackup & { refused: string | undefined };

/** A deployment or statefulset that is stored. */
interface StoredApp extends ManifestKey {
  backup: DecodedPod["backup"];
  /** How the plugin of a block backs it up by commands in its pods; undefined where the volumes are copied. */
  dump: DeclaredDump | undefined;
  updatedAt: number;
  /** Claims that were made once, and volumes by their name, also external ones. */
  volumes: AppVolume[];
}

/** Volumes of apps, for what exchanges their data. */
export interface VolumeRoom {
  /** Asked often: what a manifest says is read once for each revision of it. */
  apps(): StoredApp[];
  /** Those of all apps. */
  list(): AppVolume[];
  find(volume: string): Promise<Volume | undefined>;
  /** Where the engine keeps volumes. */
  folder(): Promise<string>;
  make(volume: string, labels: Record<string, string>): Promise<void>;
  remove(volume: string): Promise<void>;
  /** The engine's name and labels of a volume that manifests of the scope mount as `name`. */
  named(scope: string, name: string): { volume: string; labels: Record<string, string> };
  /** Keeps every resource that mounts the volume from starting a container; the returned function ends that. */
  hold(volume: string): () => void;
  /**
   * Stops every replica that mounts the volume; call `hold` first. Fails `conflict` where another container does: one of a
   * run, or one that is not of this server.
   */
  stopUsers(volume: string): Promise<void>;
}

export function createVolumeRoom(context: Context): VolumeRoom {
  const { engine, names, volumeHolds } = context;
  const apps = createAppList(context);
  return {
    apps,
    list: () => apps().flatMap((app) => app.volumes),
    find: (volume) => engine.inspectVolume(volume),
    folder: async () => `${(await engine.info()).rootDir}/volumes`,
    make: async (volume, labels) => void (await engine.ensureVolume(volume, labels)),
    remove: (volume) => engine.removeVolume(volume),
    named: (scope, name) => ({
      volume: scopedVolumeName(names, scope, name),
      labels: { [names.label.scope]: scope, [names.label.volume]: name },
    }),
    hold(volume) {
      const keys = usersOf(context, volume);
      const exited = () => keys.flatMap((key) => context.pods.of(key)).filter(({ state }) => state === "exited");
      const ended = new Set(exited().map(({ id }) => id));
      const release = volumeHolds.hold(volume, keys);
      return () => {
        // Also those that a server before this one has stopped for it.
        for (const pod of exited()) pod.restored ||= !ended.has(pod.id);
        release();
        for (const key of keys) context.enqueue(key);
      };
    },
    stopUsers: (volume) => stopUsers(context, volume),
  };
}

type Uses = ReturnType<typeof volumeUses>;

function createAppList({ store, names, plugins }: Context): () => StoredApp[] {
  interface Said extends Pick<StoredApp, "backup" | "updatedAt"> {
    revision: number;
    uses: Uses;
  }
  let known = new Map<string, Said>();
  const saidBy = (head: ManifestHead): Said | undefined => {
    const before = known.get(keyText(head));
    if (before?.revision === head.revision) return before;
    const manifest = store.manifests.get(head);
    if (manifest === undefined) return undefined;
    const { revision, updatedAt } = manifest;
    return { revision, updatedAt, backup: podOf(manifest)?.backup, uses: volumeUses(manifest) };
  };
  return () => {
    const now: typeof known = new Map();
    const pods = store.manifests.heads().filter(({ kind }) => isPodKind(kind));
    const apps = pods.sort(byKey).flatMap((head): StoredApp[] => {
      const said = saidBy(head);
      if (said === undefined) return [];
      now.set(keyText(head), said);
      const { kind, scope, name } = head;
      const { backup, updatedAt } = said;
      const dump = backup === undefined ? undefined : declaredDump({ store, plugins }, head);
      return [{ kind, scope, name, backup, dump, updatedAt, volumes: volumesOf({ store, names }, head, said.uses) }];
    });
    known = now;
    return apps;
  };
}

/** The commands by which the plugin of a block backs up what the block became; undefined where it declares none. */
export function declaredDump(
  { store, plugins }: Pick<Context, "store" | "plugins">,
  key: ManifestKey,
): DeclaredDump | undefined {
  const owner = store.blocks.ownerOf(key);
  const block = owner && store.blocks.get(owner);
  const plugin = block && plugins.registry.find(block.plugin);
  if (block === undefined || plugin?.yml.backup === undefined || !isOwn(block, makerOf(plugin))) return undefined;
  const { name } = plugin.yml;
  const why = !plugin.enabled
    ? `is disabled: berth plugins enable ${name}`
    : `was not granted "backup", which its plugin.yml has to ask for under permissions: berth plugins update ${name}`;
  const isGranted = plugin.enabled && mayBackUp(plugin.permissions) && mayTouch(plugin.permissions, key.scope);
  return { ...plugin.yml.backup, refused: isGranted ? undefined : `the plugin "${name}" ${why}` };
}

const byKey = (a: ManifestHead, b: ManifestHead) => (keyText(a) < keyText(b) ? -1 : 1);

function volumesOf(context: Pick<Context, "store" | "names">, of: ManifestKey, uses: Uses): AppVolume[] {
  const key = { kind: of.kind, scope: of.scope, name: of.name };
  const claims = context.store.volumes.list(key).map(({ volume, claim, ordinal }) => {
    return { ...key, claim, ordinal, volume, labels: claimLabels(context.names, key, { claim, ordinal }) };
  });
  return [...claims, ...namedVolumes(context, key, uses)];
}

/** The volumes that a manifest names, as those of an app. */
export function namedVolumes(
  { store, names }: Pick<Context, "store" | "names">,
  { kind, scope, name }: ManifestKey,
  uses: Uses,
): AppVolume[] {
  const key = { kind, scope, name };
  return uses.map((use) => {
    const volume = engineVolumeName(use, names, (owner, of) => store.namedVolumes.isPlain(owner, of));
    const block = isEngineVolumeName(names, use.name) ? store.blocks.ownerOf(key) : undefined;
    const labels = use.external ? {} : namedVolumeLabels(names, use, block && formatKey(block));
    const claim = use.external || use.owner === scope ? use.name : `${use.owner}/${use.name}`;
    return { ...key, claim, ordinal: undefined, volume, labels };
  });
}

/** Resources of every kind whose manifest mounts the volume. */
function usersOf({ store, names }: Context, volume: string): ManifestKey[] {
  const claim = store.volumes.get(volume);
  const isPlain = (owner: string, name: string) => store.namedVolumes.isPlain(owner, name);
  const users = store.manifests
    .list({})
    .filter((manifest) => volumeUses(manifest).some((use) => engineVolumeName(use, names, isPlain) === volume));
  const texts = [...users, ...(claim === undefined ? [] : [claim])].map(keyText);
  return [...new Set(texts)].map(parseKeyText);
}

/** More looks than starts can be under way when the hold begins. */
const looksMax = 20;

async function stopUsers(context: Context, volume: string): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    const up = (await context.engine.volumeUsers(volume)).filter(({ state }) => state !== "exited" && state !== "dead");
    const stranger = up.find((pod) => pod.state !== "created" && !isReplica(context, pod));
    if (stranger !== undefined) throw usedBy(volume, stranger);
    const ours = up.filter((pod) => isReplica(context, pod));
    if (ours.length === 0) return;
    await Promise.all(ours.map((pod) => stopReplica(context, pod)));
  }
  throw new Failure("conflict", `containers that use volume "${volume}" are started again and again; stop them first`);
}

function isReplica({ store, names }: Context, { identity, labels }: ObservedPod): boolean {
  const isOurs = labels[names.label.installation] === store.installationId;
  return isOurs && identity !== undefined && identity.role === undefined;
}

function usedBy(volume: string, { name }: ObservedPod): Failure {
  const text = `volume "${volume}" is used by container "${name}", which is not a replica; end it, then try again`;
  return new Failure("conflict", text);
}

const visitorsWaitMs = 5_000;

/** One that was only made may be on its way to a start, which a removal waits for. */
async function stopReplica(context: Context, pod: ObservedPod): Promise<void> {
  const { engine, progress, leaving } = context;
  if (pod.state === "created") return engine.remove(pod);
  const { key, replicaId } = pod.identity ?? { key: undefined, replicaId: "" };
  // A failing probe must not start it again while it stops.
  const release = key === undefined ? () => undefined : progress.hold(key, replicaId, "stopped for its volume");
  try {
    await leaveIngress(context, { id: pod.id, waitMs: visitorsWaitMs });
    await stopGently(engine, pod);
  } finally {
    leaving.remove(pod.id);
    release();
  }
}
