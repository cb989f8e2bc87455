import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type StoredManifest } from "../../api/manifest.ts";
import { containerOf, decodeSpec } from "../../core/spec/decode.ts";
import { hasExecProbe } from "../../core/spec/probes.ts";
import { volumeUses } from "../../core/named-volumes.ts";
import { isEngineVolumeName } from "../../core/naming.ts";
import type { Context } from "../state/context.ts";
import { initMissing, initUnstartable } from "./init-process.ts";
import { isPodKind } from "../state/target.ts";
import { portNotes, type PortNotes, type Written } from "./host-ports.ts";

/**
 * By resource, in words: what only the engine knows of what was written, so that an operator hears of it in the plan and
 * not from a container that does not start. Empty while the engine cannot be asked.
 */
export async function engineNotes(context: Context, written: Written): Promise<PortNotes> {
  const notes = new Map(await portNotes(context, written));
  for (const { manifest, outcome } of written.puts) {
    if (outcome === "unchanged" || !mayHaveNotes(manifest) || !context.link.up()) continue;
    const more = await notesOf(context, manifest).catch(unlessAway);
    const ref = formatKey(manifest);
    if (more.length > 0) notes.set(ref, [...(notes.get(ref) ?? []), ...more]);
  }
  return notes;
}

/** Most manifests name nothing that only the engine knows. */
function mayHaveNotes({ kind, spec }: StoredManifest): boolean {
  const container = containerOf(kind, spec)?.container;
  if (container === undefined) return false;
  const { networks, network, volumes, wantsTelemetry } = container;
  const namesObjects = networks.length > 0 || network !== undefined || volumes.length > 0;
  return namesObjects || wantsTelemetry || initField(kind, spec) !== undefined;
}

async function notesOf(context: Context, manifest: StoredManifest): Promise<string[]> {
  const notes = [
    networkNotes(context, manifest),
    volumeNotes(context, manifest),
    bindNotes(context, manifest),
    initNotes(context, manifest),
  ];
  const ofEngine = await Promise.all(notes);
  return [...ofEngine.flat(), ...telemetryNotes(context, manifest)];
}

function telemetryNotes({ telemetry }: Context, { kind, spec }: StoredManifest): string[] {
  const found = containerOf(kind, spec);
  if (!found?.container.wantsTelemetry || telemetry !== undefined) return [];
  return [`${found.path}.telemetry: this server takes no telemetry, because it runs with --telemetry-port off`];
}

/** The field that makes an init useful; undefined where none does. */
function initField(kind: StoredManifest["kind"], spec: StoredManifest["spec"]): string | undefined {
  const found = containerOf(kind, spec);
  if (found === undefined || found.container.init === false) return undefined;
  if (found.container.init === true) return `${found.path}.init`;
  return isPodKind(kind) && hasExecProbe(decodeSpec(kind, spec).probes) ? `${found.path}.probes` : undefined;
}

async function initNotes({ engine }: Context, { kind, spec }: StoredManifest): Promise<string[]> {
  const path = initField(kind, spec);
  if (path === undefined || (await engine.info()).hasInit) return [];
  const isWritten = containerOf(kind, spec)?.container.init === true;
  return [`${path}: ${isWritten ? initUnstartable : initMissing}`];
}

/** The engine makes an empty folder of root's for a source that is missing, and mounts it where a file is expected. */
async function bindNotes({ engine }: Context, { kind, spec }: StoredManifest): Promise<string[]> {
  const written = containerOf(kind, spec);
  const sources = new Map<string, string>();
  for (const [index, { read }] of (written?.container.volumes ?? []).entries()) {
    const source = read.ok && read.value.type === "bind" ? read.value.source : "";
    if (source.startsWith("/") && !sources.has(source)) sources.set(source, `${written?.path}.volumes[${index}]`);
  }
  const found = await Promise.all(
    Array.from(sources, async ([source, at]) => {
      if ((await engine.hasHostPath(source)) !== false) return [];
      return [
        `${at}: there is no ${source} on this server; Docker makes an empty folder there, owned by root, even where the app expects a file`,
      ];
    }),
  );
  return found.flat();
}

async function networkNotes({ engine }: Context, manifest: StoredManifest): Promise<string[]> {
  const written = containerOf(manifest.kind, manifest.spec);
  if (written === undefined) return [];
  const { container, path } = written;
  const named = container.networks.map((name, index) => ({ name, at: `${path}.networks[${index}]` }));
  if (container.network !== undefined) named.push({ name: container.network, at: `${path}.network` });
  const found = await Promise.all(
    named.map(async ({ name, at }) => {
      if (await engine.hasNetwork(name)) return [];
      return [`${at}: Docker has no network "${name}" yet; it is made with the first container, empty`];
    }),
  );
  return found.flat();
}

async function volumeNotes({ engine, store, names }: Context, manifest: StoredManifest): Promise<string[]> {
  const found = await Promise.all(
    volumeUses(manifest).map(async ({ owner, name, external, path }) => {
      if (isEngineVolumeName(names, name) || store.namedVolumes.isPlain(owner, name)) return [];
      const isThere = (await engine.inspectVolume(name)) !== undefined;
      if (external) return isThere ? [] : [`${path}: Docker has no volume "${name}"; docker volume create ${name}`];
      const isNew = !store.namedVolumes.users(owner, name).some((use) => formatKey(use) !== formatKey(manifest));
      return isThere && isNew
        ? [`${path}: Docker has a volume "${name}" of no scope, which this is not; add ":external" to use that one`]
        : [];
    }),
  );
  return found.flat();
}

function unlessAway(error: unknown): string[] {
  if (error instanceof Failure) return [];
  throw error;
}
