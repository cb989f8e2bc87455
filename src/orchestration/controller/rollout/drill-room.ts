import type { Principal } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { databaseKinds } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import {
  appsNamedIn,
  drilledCommand,
  drilledInit,
  drilledVolumes,
  drillRole,
  drillSpec,
  undrillable,
} from "../../core/drill-spec.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { ContainerSpec, ResolvedWorkload } from "../../core/workload.ts";
import type { ObservedPod } from "../../engine/pod.ts";
import { pull } from "../desired/image-registry.ts";
import { broughtBack } from "../desired/known-image.ts";
import { resolveStored } from "../desired/resolve.ts";
import type { Context } from "../state/context.ts";
import { declaredDump } from "./volume-room.ts";
import { createDrillPods, type DrilledPod, type EndedCommand, type InsideNetwork } from "./drill-pod.ts";
import { stepsOf } from "./release-step.ts";

interface Order {
  key: ManifestKey;
  ordinal: number | undefined;
  id: string;
  /** What is mounted in place of which; a volume that is not in it is new and empty. */
  volumes: Map<string, string>;
}

/** Copies of apps that live for a while on a network of their own, without a way out. */
interface DrillStage {
  /** Why an app cannot be drilled, or what it takes; `names`: the other apps that its environment names, as `scope/name`. */
  examine(key: ManifestKey): Promise<{ refused: string } | { memoryBytes: number; replicas: number; names: string[] }>;
  /** Removes what an earlier drill has left, and makes the network. */
  open(id: string): Promise<void>;
  /** The name of a new volume of the drill, and the folder of its data. */
  makeVolume(name: string): Promise<{ volume: string; folder: string }>;
  /** Runs the release commands that come before a rollout, up to the first that fails; undefined where there are none. */
  release(order: Order, signal: AbortSignal): Promise<EndedCommand | undefined>;
  /** Starts one replica. */
  start(order: Order, signal: AbortSignal): Promise<DrilledPod>;
  /** Removes everything that drills have made. */
  clear(): Promise<void>;
}

export interface DrillRoom extends DrillStage {
  /** Drills of the stored apps, in which those that the body of an apply has are as they would be then. Fails as the apply would. */
  rehearse(body: unknown, caller: Caller): Promise<Rehearsed & { stage: DrillStage }>;
}

export interface Caller {
  by: Principal;
  actor: string;
}

interface Rehearsed {
  apps: RehearsedApp[];
  /** What is not rehearsed, as `kind/scope/name`. */
  left: { ref: string; why: string }[];
}

interface RehearsedApp extends ManifestKey {
  /** Those that it mounts, by claim or by the name in the manifest. */
  volumes: { claim: string; ordinal: number | undefined; volume: string }[];
  hasRelease: boolean;
}

/** What a rehearsal would have stored. */
export interface WantedApps extends Rehearsed {
  wanted: ReadonlyMap<string, { manifest: StoredManifest; workload: ResolvedWorkload; refused: string | undefined }>;
}

/** Whether the scripts of a database fill an empty volume, and know of drills. */
const isFillable = (scripts: StoredManifest | undefined) =>
  Object.keys(Object(scripts?.spec.files)).includes("kit_restore_sh");

/** What an app without a limit is taken to need, and its limit in the drill. */
const memoryDefaultBytes = 512 * 1024 * 1024;

export function createDrillRoom(
  context: Context,
  { inside, plan }: { inside: InsideNetwork; plan: (body: unknown, caller: Caller) => Promise<WantedApps> },
): DrillRoom {
  const stored = createStage(context, inside, new Map());
  return {
    ...stored,
    async rehearse(body, caller) {
      const { wanted, apps, left } = await plan(body, caller);
      return { apps, left, stage: createStage(context, inside, wanted) };
    },
  };
}

/** `wanted`: apps that are not as they are stored, by `kind/scope/name`. */
function createStage(context: Context, inside: InsideNetwork, wanted: WantedApps["wanted"]): DrillStage {
  const { engine, names, store } = context;
  const pods = createDrillPods(context, inside);
  const label = { [names.label.role]: drillRole };
  const networkOf = (id: string) => `${names.prefix}-drill.${id}`;

  function resolved(key: ManifestKey): { manifest: StoredManifest; workload: ResolvedWorkload; refused?: string } {
    const { workload, manifest, refused } = wanted.get(formatKey(key)) ?? asStored(key);
    const why = refused ?? undrillable(workload);
    return why === undefined ? { manifest, workload } : { manifest, workload, refused: why };
  }

  function asStored(key: ManifestKey) {
    const manifest = store.manifests.get(key);
    if (manifest === undefined) throw new Failure("not_found", `no ${key.kind} "${key.scope}/${key.name}"`);
    const { workload, problems } = resolveStored(context, manifest);
    return { manifest, workload, refused: problems[0]?.message };
  }

  async function imageIn(key: ManifestKey, ref: string): Promise<string | undefined> {
    const pin = store.images.pinOf(key);
    return (await engine.inspectImage(pin?.ref === ref ? pin.imageId : ref))?.id;
  }

  async function imageOf(key: ManifestKey, ref: string): Promise<string> {
    const found = await imageIn(key, ref);
    if (found === undefined) throw new Failure("conflict", `its image ${ref} is not on this machine`);
    return found;
  }

  /** Whether a copy outside of the machine had the image that the app runs on. */
  async function isBroughtBack(key: ManifestKey, hash: string, ref: string): Promise<boolean> {
    const pin = store.images.pinOf(key);
    const imageId = pin?.ref === ref ? pin.imageId : store.images.initImageOf(key, hash, ref);
    if (imageId === undefined || store.images.digestOf(imageId) !== undefined) return false;
    return (await broughtBack(context, { imageId, ref })) !== undefined;
  }

  /** Why an app has an image that is not here. One that an apply would pull is pulled. */
  async function lackingImage(key: ManifestKey, { hash, image, pullable, inits }: ResolvedWorkload) {
    const others = inits.flatMap((init) => init.image ?? []).map((ref) => ({ ref, pullable: true }));
    for (const { ref, pullable: isPublic } of [{ ref: image, pullable }, ...others]) {
      if ((await imageIn(key, ref)) !== undefined || (await isBroughtBack(key, hash, ref))) continue;
      const why = `its image ${ref} is not on this machine`;
      if (!isPublic || !wanted.has(formatKey(key))) return why;
      const fault = await pull(context, { owner: key, ref }).then(
        () => undefined,
        (error: unknown) => (error instanceof Failure ? error.message : String(error)),
      );
      if (fault !== undefined) return `${why}: ${fault}`;
    }
    return undefined;
  }

  async function clear(): Promise<void> {
    // A live container can have the role from its image alone.
    const isOfDrill = ({ labels, identity }: ObservedPod) =>
      labels[names.label.role] === drillRole && identity === undefined;
    const left = (await engine.observe()).filter(isOfDrill);
    await Promise.all(left.map((pod) => engine.remove(pod)));
    const ours = { ...label, [names.label.installation]: store.installationId };
    for (const { name } of await engine.listVolumes(ours)) await engine.removeVolume(name);
    await engine.removeNetworks(label);
  }

  async function runInits(workload: ResolvedWorkload, spec: ContainerSpec, signal: AbortSignal): Promise<void> {
    for (const init of workload.inits) {
      const image = init.image === undefined ? spec.image : await imageOf(workload, init.image);
      const what = `its init "${init.name}"`;
      const { failed } = await pods.toEnd(drilledInit(spec, init, image), { what, timeoutMs: init.timeoutMs }, signal);
      if (failed !== undefined) throw new Failure("conflict", failed);
    }
  }

  /** A replica of the app, with what it is made from. */
  async function replica({ key, ordinal, id, volumes }: Order) {
    const { workload, manifest, refused } = resolved(key);
    // It may have changed while its copies were restored.
    if (refused !== undefined) throw new Failure("conflict", refused);
    const image = await imageOf(key, workload.image);
    const own = key.kind === "statefulset" ? (ordinal ?? 0) : undefined;
    const podId = `${id}.${key.scope}-${key.name}${own === undefined ? "" : `-${own}`}`;
    for (const [at, live] of drilledVolumes(workload, own, names).entries()) {
      if (volumes.has(live)) continue;
      const empty = networkOf(`${podId}.${at}`);
      await engine.ensureVolume(empty, label);
      volumes.set(live, empty);
    }
    const place = { id: podId, network: networkOf(id), image, ordinal: own, volumes, memoryBytes: memoryDefaultBytes };
    return { workload, manifest, spec: drillSpec(workload, place, names) };
  }

  return {
    async examine(key) {
      if (!wanted.has(formatKey(key)) && store.manifests.get(key) === undefined) return { refused: "it was deleted" };
      const { workload, manifest, refused } = resolved(key);
      if (refused !== undefined) return { refused };
      const owner = store.blocks.ownerOf(key);
      if (owner !== undefined && declaredDump(context, key) !== undefined)
        return { refused: `its copies are dumps, which the plugin of the block ${formatKey(owner)} reads by itself` };
      const isDatabase = owner !== undefined && databaseKinds.includes(owner.kind);
      if (isDatabase && !isFillable(store.manifests.get({ ...key, kind: "asset" })))
        return { refused: "its pods run the scripts of an older berth; apply its block again" };
      if (owner !== undefined && !isDatabase && podOf(manifest)?.backup?.volumes !== undefined) {
        return {
          refused: `its copies are what the block ${owner.kind} ${owner.scope}/${owner.name} calls its backups`,
        };
      }
      const lacking = await lackingImage(key, workload);
      if (lacking !== undefined) return { refused: lacking };
      // A standby is a copy of the first.
      const replicas = isDatabase ? 1 : Math.max(1, workload.replicas);
      const others = store.manifests.heads().filter(({ kind }) => kind === "deployment" || kind === "statefulset");
      return {
        memoryBytes: workload.container.memoryBytes ?? memoryDefaultBytes,
        ...{ replicas, names: appsNamedIn(workload, others, names) },
      };
    },
    async open(id) {
      await clear();
      await engine.makeClosedNetwork(networkOf(id), label);
    },
    async makeVolume(name) {
      const volume = networkOf(name);
      await engine.ensureVolume(volume, label);
      const folder = (await engine.inspectVolume(volume))?.mountpoint;
      if (folder === undefined)
        throw new Failure("conflict", "the engine keeps volumes elsewhere than on this machine");
      return { volume, folder };
    },
    async release(order, signal) {
      const { manifest, spec } = await replica(order);
      let last: EndedCommand | undefined;
      for (const { name, argv, timeoutMs } of stepsOf(manifest).filter(({ when }) => when === "before")) {
        const what = name === "command" ? "its release command" : `the ${name} of its release`;
        last = await pods.toEnd(drilledCommand(spec, argv, memoryDefaultBytes), { what, timeoutMs }, signal);
        if (last.failed !== undefined) return last;
      }
      return last;
    },
    async start(order, signal) {
      const { workload, manifest, spec } = await replica(order);
      await runInits(workload, spec, signal);
      return pods.begin(spec, podOf(manifest)?.probes ?? {});
    },
    clear,
  };
}
