import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import { podOf } from "../../core/spec/decode.ts";
import { portsClash } from "../../core/ports.ts";
import type { PortBinding, ResolvedWorkload } from "../../core/workload.ts";
import type { PutResult } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

/** Fails `conflict` when something else holds a host port of the workload, so that what runs now is not stopped for it. */
export async function refuseHeldPorts(context: Context, workload: ResolvedWorkload): Promise<void> {
  const ports = fixedPorts(workload);
  const manifests = ports.length === 0 ? [] : context.store.manifests.list();
  const [first] = await portClashes(context, { key: workload, ports, manifests });
  if (first === undefined) return;
  throw new Failure("conflict", `${first}; what runs now stays until the port is free`, { reason: "PortTaken" });
}

/** What an apply wrote, or a dry run would have written. */
export interface Written {
  puts: readonly PutResult[];
  pruned: readonly ManifestKey[];
}

/** In words and by resource: fixed host ports that were written and that something else holds or wants as well. */
export type PortNotes = ReadonlyMap<string, string[]>;

/**
 * Holders are containers of anybody, other programs of the machine, and other manifests. Empty while the engine cannot be
 * asked: the code that starts replicas looks again.
 */
export async function portNotes(context: Context, { puts, pruned }: Written): Promise<PortNotes> {
  const wanting = puts.filter(({ manifest, outcome }) => outcome !== "unchanged" && writtenPorts(manifest).length > 0);
  if (wanting.length === 0 || !context.link.up()) return new Map();
  const gone = new Set(pruned.map(formatKey));
  const fresh = new Map(puts.map(({ manifest }) => [formatKey(manifest), manifest]));
  const stored = context.store.manifests.list().filter((manifest) => !fresh.has(formatKey(manifest)));
  const manifests = [...stored, ...fresh.values()].filter(
    (manifest) => isPodKind(manifest.kind) && !gone.has(formatKey(manifest)),
  );
  const notes = new Map<string, string[]>();
  for (const { manifest } of wanting) {
    const ports = writtenPorts(manifest);
    const running = await portClashes(context, { key: manifest, ports, manifests }).catch(unlessAway);
    const clashes = [...running, ...storedClashes(context, { key: manifest, ports, manifests })];
    notes.set(
      formatKey(manifest),
      [...new Set(clashes)].map((text) => `${text}; until it is free no new replica starts`),
    );
  }
  return notes;
}

function unlessAway(error: unknown): string[] {
  if (error instanceof Failure) return [];
  throw error;
}

function fixedPorts({ container }: ResolvedWorkload): PortBinding[] {
  return container.networkMode === "bridge" ? container.ports.filter(({ hostPort }) => hostPort !== undefined) : [];
}

/** Those of a stored spec; none where no replica of it is wanted. */
function writtenPorts(manifest: StoredManifest): PortBinding[] {
  const pod = podOf(manifest);
  if (pod === undefined || pod.writtenReplicas === 0) return [];
  return pod.ports.flatMap(({ read: port }) => {
    return port.ok && port.value.hostPort !== undefined ? [port.value] : [];
  });
}

interface Wanted {
  key: ManifestKey;
  ports: readonly PortBinding[];
  /** What is stored, or will be. */
  manifests: readonly StoredManifest[];
}

async function portClashes(context: Context, { key, ports, manifests }: Wanted): Promise<string[]> {
  if (ports.length === 0) return [];
  const holders = await context.engine.portHolders(ports);
  const others = holders.filter(({ binding, container }) => {
    const owner = container === undefined ? undefined : context.pods.byId(container)?.key;
    return owner === undefined || (formatKey(owner) !== formatKey(key) && !letsGo(manifests, owner, binding));
  });
  return others.map(({ binding, holder }) => `host port ${binding.hostPort} is held by ${holder}`);
}

/** Two resources that change places would wait for each other for ever. */
function letsGo(manifests: readonly StoredManifest[], owner: ManifestKey, binding: PortBinding): boolean {
  const stored = manifests.find((manifest) => formatKey(manifest) === formatKey(owner));
  return stored !== undefined && !writtenPorts(stored).some((port) => portsClash(port, binding));
}

function storedClashes({ pods }: Context, { key, ports, manifests }: Wanted): string[] {
  // Where one runs, its container is named as the holder.
  const isRunning = (other: ManifestKey) => pods.of(other).some(({ state }) => state === "running");
  return manifests
    .filter((other) => formatKey(other) !== formatKey(key) && !isRunning(other))
    .flatMap((other) =>
      writtenPorts(other)
        .filter((port) => ports.some((wanted) => portsClash(wanted, port)))
        .map((port) => `host port ${port.hostPort} is also in the spec of ${formatKey(other)}`),
    );
}
