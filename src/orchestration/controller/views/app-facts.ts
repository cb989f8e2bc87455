import type { AppFacts, AppWatch, ReleaseFacts, ReplicaFacts } from "../../api/app-facts.ts";
import type { PodKindStatus } from "../../api/describe.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import { podDefaults } from "../../api/kinds/defaults.ts";
import { builtImage } from "../../core/build/built-image.ts";
import { podOf } from "../../core/spec/decode.ts";
import { createBroadcast } from "../../../base/words/broadcast.ts";
import type { ReleaseHead, ReleaseRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { keyOf, type KeyText, parseKeyText } from "../../api/manifest-key.ts";
import { readinessOf } from "../state/observe.ts";
import type { Pod } from "../state/pod.ts";
import { isPodKind } from "../state/target.ts";
import { lastGoodOther } from "../rollout/releases.ts";
import { canaryView } from "../rollout/canary-view.ts";
import { byIdentity } from "../pods/pods.ts";

interface AppRoom extends AppWatch {
  /** Pods of a resource changed; without a key, those of any may have. */
  heard(key?: KeyText): void;
  /** Passes on what the store and the reconciler tell; returns the way to leave. */
  follow(): () => void;
}

export function createAppRoom(contextOf: () => Context, onListenerError: (error: unknown) => void): AppRoom {
  const changes = createBroadcast<ManifestKey | undefined>(onListenerError);
  const tell = (key: ManifestKey) => {
    if (isPodKind(key.kind)) changes.publish(key);
  };
  return {
    keys() {
      const { manifests } = contextOf().store;
      return manifests.heads().flatMap(({ kind, scope, name }) => (isPodKind(kind) ? [{ kind, scope, name }] : []));
    },
    of: (key) => factsOf(contextOf(), key),
    releases(asked) {
      const { releases } = contextOf().store;
      return releases.page(asked).map((head) => {
        // Only the spec tells which build it runs.
        const release = head.image === "" ? releases.get(head.id) : undefined;
        return { ...releaseFacts(release ?? { ...head, spec: {} }), app: keyOf(head) };
      });
    },
    usageAt() {
      const { link, usage } = contextOf();
      return link.up() ? usage.latest()?.at : undefined;
    },
    engine() {
      const { link } = contextOf();
      return { up: link.up(), since: link.since(), error: link.up() ? undefined : link.error() };
    },
    subscribe: changes.subscribe,
    heard(key) {
      if (key === undefined) changes.publish(undefined);
      else tell(parseKeyText(key));
    },
    follow() {
      const { store, progress } = contextOf();
      const leaveStore = store.subscribe((keys) => keys.forEach(tell));
      const leaveProgress = progress.moved.subscribe((key) => tell(parseKeyText(key)));
      return () => {
        leaveStore();
        leaveProgress();
      };
    },
  };
}

function factsOf(context: Context, key: ManifestKey): AppFacts | undefined {
  const { store, clock } = context;
  const manifest = store.manifests.get(key);
  if (manifest === undefined || !isPodKind(manifest.kind)) return undefined;
  const { kind, scope, name, revision, generation, updatedAt } = manifest;
  const status = context.notes.status(key) as Partial<PodKindStatus> | undefined;
  const releases = store.releases.list(key);
  const [newest] = releases;
  const frozenIds = store.frozen.list(key);
  const owner = store.blocks.ownerOf(key);
  const steady = { now: clock.now(), steady: clock.steady() };
  const pods = context.pods.of(key).filter(({ role }) => role === undefined);
  return {
    kind,
    scope,
    name,
    revision,
    generation,
    updatedAt,
    block: owner === undefined ? undefined : formatKey(owner),
    image: status?.image ?? imageOf(manifest),
    status: status === undefined ? undefined : statusFacts(status),
    replicas: status?.replicas ?? wantedBySpec(manifest),
    frozenIds,
    release: newest === undefined ? undefined : releaseFacts(newest),
    rollbackTo: newest === undefined ? undefined : lastGoodOther(releases, newest)?.id,
    canary: canaryView(context, key),
    deleting: store.deletions.get(key) !== undefined,
    pods: pods.sort(byIdentity).map((pod) => replicaFacts(context, pod, { frozenIds, ...steady })),
  };
}

function statusFacts(status: Partial<PodKindStatus>): AppFacts["status"] {
  return {
    phase: status.phase ?? "progressing",
    conditions: status.conditions ?? [],
    warnings: status.warnings ?? [],
    observedRevision: status.observed_revision ?? 0,
    observedGeneration: status.observed_generation ?? 0,
    error: status.last_reconcile_error,
    nextRetryAt: status.next_retry_at,
  };
}

function imageOf(manifest: StoredManifest): string {
  const pod = podOf(manifest);
  return pod?.image ?? builtImage(manifest.scope, manifest.name, pod);
}

function wantedBySpec(manifest: StoredManifest): number {
  return podOf(manifest)?.writtenReplicas ?? podDefaults.replicas;
}

function releaseFacts(record: ReleaseHead & Pick<ReleaseRecord, "spec">): ReleaseFacts {
  const { id, status, cause, actor, message, image, rolledBackFrom, startedAt, endedAt, error } = record;
  const shown = image === "" ? builtImage(record.scope, record.name, podOf(record)) : image;
  return { id, status, cause, actor, message, image: shown, rolledBackFrom, startedAt, endedAt, error };
}

interface Moment {
  frozenIds: readonly string[];
  now: number;
  steady: number;
}

function replicaFacts(context: Context, pod: Pod, { frozenIds, now, steady }: Moment): ReplicaFacts {
  const { ready, reason } = readinessOf(context, pod);
  return {
    id: pod.id,
    name: pod.name,
    replicaId: pod.replicaId,
    ordinal: pod.ordinal,
    node: pod.node,
    image: pod.image,
    releaseId: pod.releaseId,
    state: pod.state,
    ready,
    reason: context.probes.hindrance(pod) ?? context.ports.hindrance(pod) ?? reason,
    leaving: context.leaving.has(pod.id),
    frozen: frozenIds.includes(pod.replicaId),
    createdAt: pod.createdAt,
    startedAt: pod.startedAt,
    upSince: pod.state === "running" && pod.upSince !== undefined ? now - (steady - pod.upSince) : undefined,
    restarts: pod.restarts + pod.earlierRestarts,
    crashes: pod.crashes.count,
    exitCode: pod.lastExitCode ?? pod.exitCode,
    oomKilled: pod.oomKilled,
    cannotStart: pod.cannotStart,
    ports: pod.ports.map(({ container, hostIp, hostPort }) => ({
      container,
      host_ip: hostIp,
      host_port: hostPort,
    })),
  };
}
