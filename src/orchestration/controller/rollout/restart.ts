import { isoTime } from "../../../base/pure/iso-time.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { restart as restartEndpoint } from "../../api/restart.ts";
import type { Operation, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { requireUnlocked } from "../state/locks.ts";
import { copyBefore } from "./copy-before.ts";
import { imagePullRows, type PulledImages, pullImages, releaseMoved } from "./image-pulls.ts";
import { keyText } from "../../api/manifest-key.ts";
import type { Asker, Target } from "../requests.ts";
import { letGo } from "../state/plugin-holds.ts";
import { resolvePodTarget } from "../state/target.ts";

interface RestartOptions extends Asker {
  wait: boolean;
  pull?: boolean;
  /** Change the image of a database without a copy of it before. */
  noBackup?: boolean;
  left?: AbortSignal;
}

/**
 * POST /restart: frozen replicas first, then recreates every container with fresh env. With `pull` the registry is asked
 * first; where the reference means another image now, the restart is a release of it.
 */
export async function restart(
  context: Context,
  target: Target,
  { wait, pull, noBackup, left, actor, by }: RestartOptions,
): Promise<DataOf<typeof restartEndpoint>> {
  const { kind, scope, name } = resolvePodTarget(context.store.manifests, target);
  const key = { kind, scope, name };
  if (wait) context.link.require();
  // Before a registry is asked and a copy is made for a change that is refused.
  requireUnlocked(context, context.store, [key]);
  const manifests = [context.store.manifests.get(key) ?? []].flat();
  const pulled = pull ? await pullImages(context, { manifests }) : undefined;
  if (pull) {
    const wanted = manifests.map(({ spec }) => ({ key, spec }));
    await copyBefore(context, wanted, { noBackup, left, force: true });
  }
  const id = `op-${Buffer.from(context.randomBytes(8)).toString("hex")}`;
  const { unfroze, generation, release } = await context.store.write((tx) => {
    requireUnlocked(context, tx, [key]);
    const now = context.clock.now();
    const ids = tx.frozen.remove(key);
    const begun = begin(context, tx, { key, pulled, author: { actor, by }, now });
    if (!wait) tx.operations.put({ id, type: "restart", ...key, generation: begun.generation, startedAt: now });
    tx.events.append({ actor, action: "restart", ...key, detail: { unfroze: ids, ...begun } }, now);
    return { unfroze: ids, ...begun };
  });
  letGo(context, key, actor);
  context.enqueue(key);
  const answer = {
    ...key,
    unfroze,
    ...(pulled === undefined ? {} : { image_pulls: imagePullRows(pulled) }),
    ...(release === undefined ? {} : { release }),
  };
  if (!wait) return { ...answer, operation: id };
  await settled(context, key, { generation, release });
  return answer;
}

interface Beginning {
  key: ManifestKey;
  pulled: PulledImages | undefined;
  author: Asker;
  now: number;
}

/** What the restart has to reach. */
interface Goal {
  generation: number;
  /** Where the restart is a release of another image: its fate is the restart's. */
  release: string | undefined;
}

function begin(context: Context, tx: Transaction, { key, pulled, author, now }: Beginning): Goal {
  const manifest = tx.manifests.get(key);
  if (manifest === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
  const release = pulled === undefined ? undefined : releaseMoved(context, tx, { manifest, pulled, author, now });
  if (release === undefined) return { generation: tx.manifests.raiseGeneration(key), release: undefined };
  return { generation: tx.manifests.get(key)?.generation ?? manifest.generation, release: release.id };
}

type Standing = { state: "running" } | { state: "succeeded" } | { state: "failed"; error: string };

/** How far a resource is on its way. */
function standing(context: Context, key: ManifestKey, { generation, release }: Goal): Standing {
  if (context.store.manifests.get(key) === undefined)
    return { state: "failed", error: `${formatKey(key)} was deleted` };
  const record = release === undefined ? undefined : context.store.releases.get(release);
  if (record?.status === "failed") return { state: "failed", error: record.error ?? "the release failed" };
  if (record !== undefined && record.endedAt === undefined) return { state: "running" };
  const look = context.notes.look(key);
  if (look === undefined || look.generation < generation) return { state: "running" };
  if (look.phase === "ready" || look.phase === "asleep") return { state: "succeeded" };
  if (look.phase === "progressing") return { state: "running" };
  return { state: "failed", error: look.error ?? look.unready ?? "not ready" };
}

/**
 * Resolves when the resource is ready and `goal` reached. Fails `conflict` with the reason when it is failing or deleted,
 * `unavailable` when the engine goes away: both may pass, and no client should wait for that on an open connection.
 */
async function settled(context: Context, key: ManifestKey, goal: Goal): Promise<void> {
  for (;;) {
    const now = standing(context, key, goal);
    if (now.state === "succeeded") return;
    if (now.state === "failed") {
      throw new Failure("conflict", `${formatKey(key)} is restarting, but not getting ready: ${now.error}`);
    }
    if (!context.link.up()) throw engineLost(context, key);
    await nextMove(context, key);
  }
}

function engineLost(context: Context, key: ManifestKey): Failure {
  const why = context.link.error() ?? "unknown error";
  const text = `${formatKey(key)} is restarting, but the container engine cannot be reached: ${why}; the restart goes on by itself`;
  return new Failure("unavailable", text, { reason: "EngineUnavailable", retryAfterSeconds: 2 });
}

/** Not everything that ends a wait moves the resource. */
const lookAgainMs = 1_000;

async function nextMove(context: Context, key: ManifestKey): Promise<void> {
  const waiting = new AbortController();
  const leave = context.progress.moved.subscribe((text) => {
    if (text === keyText(key)) waiting.abort();
  });
  await context.clock.sleep(lookAgainMs, waiting.signal);
  leave();
}

/** The release that a restart began: both are written at one instant. */
function releaseOf(context: Context, { kind, scope, name, startedAt }: Operation): string | undefined {
  const releases = context.store.releases.list({ kind, scope, name });
  return releases.find((release) => release.cause === "image" && release.startedAt === startedAt)?.id;
}

/** GET /operations/{id}. */
export function operation(context: Context, id: string) {
  const known = context.store.operations.get(id);
  if (known === undefined) throw new Failure("not_found", `no operation "${id}"`);
  const { type, kind, scope, name, generation, startedAt } = known;
  const goal = { generation, release: releaseOf(context, known) };
  const result = standing(context, { kind, scope, name }, goal);
  return {
    id,
    type,
    kind,
    scope,
    name,
    state: result.state,
    started_at: isoTime(startedAt),
    ...(result.state === "failed" ? { error: result.error } : {}),
  };
}
