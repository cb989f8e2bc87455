import { Failure } from "../../../base/wire/failure.ts";
import { createLineTail } from "../../../base/words/lines.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { appsNamedIn, drilledInit, drilledVolumes, drillRole, drillSpec, undrillable } from "../../core/drill-spec.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { ProbesConfig } from "../../core/spec/probes.ts";
import type { ContainerSpec, ResolvedWorkload } from "../../core/workload.ts";
import type { ObservedPod, PodRef } from "../../engine/pod.ts";
import { resolveStored } from "../desired/resolve.ts";
import { attemptProbe } from "../pods/probe-attempt.ts";
import type { Context } from "../state/context.ts";

/** Requests and connections from inside the network of a process, by its id: a closed network is entered from nowhere else. */
export type InsideNetwork = (pid: number) => Required<Pick<Context, "fetch" | "knock">>;

/** Copies of apps that live for a while on a network of their own, without a way out. */
export interface DrillRoom {
  /** Why an app cannot be drilled, or what it takes; `names`: the other apps that its environment names, as `scope/name`. */
  examine(key: ManifestKey): Promise<{ refused: string } | { memoryBytes: number; replicas: number; names: string[] }>;
  /** Removes what an earlier drill has left, and makes the network. */
  open(id: string): Promise<void>;
  /** The name of a new volume of the drill, and the folder of its data. */
  makeVolume(name: string): Promise<{ volume: string; folder: string }>;
  /** Starts one replica. `volumes`: what is mounted in place of which; a volume that is not in it is new and empty. */
  start(
    order: { key: ManifestKey; ordinal: number | undefined; id: string; volumes: Map<string, string> },
    signal: AbortSignal,
  ): Promise<DrilledPod>;
  /** Removes everything that drills have made. */
  clear(): Promise<void>;
}

interface DrilledPod {
  /**
   * Whether a check of the app's own has passed, or it has just run for a while, for which it was only watched. Fails
   * `conflict` with the cause.
   */
  ready(signal: AbortSignal): Promise<{ result: "proved" | "started"; watchedMs: number }>;
}

const lookMs = 1_000;
/** An app without a check has started once it has run for as long as this: a name that leads nowhere takes 10 s to fail. */
const calmMs = 30_000;
const tailLines = 5;
const saidCharsMax = 1_000;
/** What an app without a limit is taken to need, and its limit in the drill. */
const memoryDefaultBytes = 512 * 1024 * 1024;

export function createDrillRoom(context: Context, inside: InsideNetwork): DrillRoom {
  const { engine, names, store, clock } = context;
  const label = { [names.label.role]: drillRole };
  const networkOf = (id: string) => `${names.prefix}-drill.${id}`;

  function resolved(key: ManifestKey): {
    workload: ResolvedWorkload;
    probes: ProbesConfig;
    refused: string | undefined;
  } {
    const manifest = store.manifests.get(key);
    if (manifest === undefined) throw new Failure("not_found", `no ${key.kind} "${key.scope}/${key.name}"`);
    const { workload, problems } = resolveStored(context, manifest);
    const why = problems[0]?.message ?? undrillable(workload);
    return { workload, probes: podOf(manifest)?.probes ?? {}, refused: why };
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

  async function clear(): Promise<void> {
    // A live container can have the role from its image alone.
    const isOfDrill = ({ labels, identity }: ObservedPod) =>
      labels[names.label.role] === drillRole && identity === undefined;
    const pods = (await engine.observe()).filter(isOfDrill);
    await Promise.all(pods.map((pod) => engine.remove(pod)));
    const ours = { ...label, [names.label.installation]: store.installationId };
    for (const { name } of await engine.listVolumes(ours)) await engine.removeVolume(name);
    await engine.removeNetworks(label);
  }

  async function runInits(workload: ResolvedWorkload, spec: ContainerSpec, signal: AbortSignal): Promise<void> {
    for (const init of workload.inits) {
      const image = init.image === undefined ? spec.image : await imageOf(workload, init.image);
      const pod = await engine.create(drilledInit(spec, init, image));
      await engine.start(pod);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(init.timeoutMs)]);
      const { exitCode } = await engine.wait(pod, limit).catch((error: unknown) => {
        if (signal.aborted || !limit.aborted) throw error;
        throw new Failure("conflict", `its init "${init.name}" did not end within ${init.timeoutMs / 1000} s`);
      });
      if (exitCode !== 0) throw await ended(pod, `its init "${init.name}" ended with exit code ${exitCode}`);
      await engine.remove(pod);
    }
  }

  async function ended(pod: PodRef, what: string): Promise<Failure> {
    const lines = createLineTail(tailLines);
    const decoder = new TextDecoder();
    const options = { follow: false, tail: tailLines, since: undefined, timestamps: false };
    for await (const bytes of engine.logs(pod, options, AbortSignal.timeout(lookMs * 10)))
      lines.push(decoder.decode(bytes, { stream: true }));
    const said = lines.lines().join(" | ").trim().slice(-saidCharsMax);
    return new Failure("conflict", `${what}; it printed last: ${said === "" ? "nothing" : said}`);
  }

  /** One attempt of each check, in the order in which they count. */
  async function ready(pod: PodRef, probes: ProbesConfig, signal: AbortSignal): ReturnType<DrilledPod["ready"]> {
    const { startup, readiness, liveness } = probes;
    const open = [startup, readiness ?? (startup === undefined ? liveness : undefined)].filter(
      (one) => one !== undefined,
    );
    const proves = open.length > 0;
    let last = "it was not asked yet";
    for (;;) {
      const detail = await engine.inspect(pod);
      if (detail === undefined) throw new Failure("conflict", "its container was removed by something else");
      if (detail.state === "exited" || detail.state === "dead")
        throw await ended(pod, `it ended with exit code ${detail.exitCode ?? "unknown"}`);
      const [check] = open;
      if (check === undefined && proves) return { result: "proved", watchedMs: 0 };
      const isUp = detail.state === "running" && detail.pid !== undefined;
      if (isUp && check === undefined && clock.now() - (detail.startedAt ?? clock.now()) >= calmMs)
        return { result: "started", watchedMs: calmMs };
      if (isUp && check !== undefined) {
        const address = Object.values(detail.addresses)[0] ?? "127.0.0.1";
        const from = { ...context, ...inside(detail.pid ?? 0) };
        const attempt = await attemptProbe(from, { pod, address }, check);
        if (attempt?.ok) {
          open.shift();
          continue;
        }
        last = attempt?.text ?? last;
      }
      await clock.sleep(lookMs, signal);
      if (signal.aborted) throw await ended(pod, `it was not ready in time: ${last}`);
    }
  }

  return {
    async examine(key) {
      if (store.manifests.get(key) === undefined) return { refused: "it was deleted" };
      const { workload, refused } = resolved(key);
      if (refused !== undefined) return { refused };
      const owner = store.blocks.ownerOf(key);
      const manifest = store.manifests.get(key);
      if (owner !== undefined && manifest !== undefined && podOf(manifest)?.backup?.volumes !== undefined) {
        const text = `its copies are backups of the block ${owner.kind} ${owner.scope}/${owner.name}, each of which its plugin has restored once`;
        return { refused: text };
      }
      for (const image of [workload.image, ...workload.inits.flatMap((init) => init.image ?? [])])
        if ((await imageIn(key, image)) === undefined) return { refused: `its image ${image} is not on this machine` };
      const replicas = Math.max(1, workload.replicas);
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
    async start({ key, ordinal, id, volumes }, signal) {
      const { workload, probes, refused } = resolved(key);
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
      const place = {
        id: podId,
        network: networkOf(id),
        image,
        ordinal: own,
        volumes,
        memoryBytes: memoryDefaultBytes,
      };
      const spec = drillSpec(workload, place, names);
      await runInits(workload, spec, signal);
      const pod = await engine.create(spec);
      await engine.start(pod);
      return { ready: (limit) => ready(pod, probes, limit) };
    },
    clear,
  };
}
