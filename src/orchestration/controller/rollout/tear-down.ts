import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { PruneSummary } from "../../api/apply.ts";
import type { Deletion } from "../../store/store.ts";
import { appId } from "../../core/naming.ts";
import { removeAppDir, removeVolumeDir } from "../../../base/disk/app-dirs.ts";
import { stopGently } from "../state/pod.ts";
import type { Context, TearDown } from "../state/context.ts";
import { keyOf, type KeyText, keyText } from "../../api/manifest-key.ts";
import { pruneNamedVolumes } from "../desired/named-volumes.ts";
import { releaseContainers } from "./release-step.ts";
import { claimVolumes } from "../desired/volumes.ts";

type Tell = (summary: PruneSummary) => void;

export function createTearDown(contextOf: () => Context): TearDown {
  /** Callers whose work no round has taken up yet. */
  const waiting = new Map<KeyText, Set<Tell>>();

  function takeWaiting(text: KeyText): Set<Tell> {
    const taken = waiting.get(text) ?? new Set();
    waiting.delete(text);
    return taken;
  }

  function putWaiting(text: KeyText, tells: Iterable<Tell>): void {
    const all = new Set([...(waiting.get(text) ?? []), ...tells]);
    if (all.size > 0) waiting.set(text, all);
  }

  /** Wipes what the newest mark asks for. False where another mark came while it did. */
  async function workOff(context: Context, mark: Deletion): Promise<boolean> {
    const text = keyText(mark);
    const taken = takeWaiting(text);
    try {
      const summary = mark.prune ? await wipe(context, keyOf(mark)) : emptySummary();
      const isLast = await context.store.write((tx) => tx.deletions.remove(mark));
      for (const tell of taken) tell(summary);
      return isLast;
    } catch (error) {
      putWaiting(text, taken);
      throw error;
    }
  }

  return {
    expect(key) {
      const text = keyText(key);
      const done = Promise.withResolvers<PruneSummary>();
      putWaiting(text, [done.resolve]);
      const forget = () => {
        const tells = waiting.get(text);
        tells?.delete(done.resolve);
        if (tells?.size === 0) waiting.delete(text);
      };
      return { forget, summary: () => unlessLong(contextOf(), done.promise).finally(forget) };
    },
    async finish(key) {
      const context = contextOf();
      for (let isLast = false; !isLast;) {
        await Promise.all([removeContainers(context, key), removeCommands(context, key)]);
        // Read now: a delete or an apply that came meanwhile has the last word.
        const mark = context.store.deletions.get(key);
        isLast = mark === undefined || (await workOff(context, mark));
      }
    },
  };
}

/** What `done` resolves with, or a summary which says why the caller does not wait for it. */
async function unlessLong(
  { link, clock, limits, closing }: Context,
  done: Promise<PruneSummary>,
): Promise<PruneSummary> {
  if (!closing.aborted && !link.up()) return { ...emptySummary(), errors: [whenBack] };
  const over = new AbortController();
  const slept = clock.sleep(limits.pruneWaitMs, AbortSignal.any([over.signal, closing]));
  const summary = await Promise.race([done, slept.then(() => undefined)]);
  over.abort();
  return summary ?? { ...emptySummary(), errors: [closing.aborted ? whenStarted : stillUnderWay] };
}

/** All at once: nothing has to keep serving. */
async function removeContainers(context: Context, key: ManifestKey): Promise<void> {
  const pods = await context.pods.refresh(key);
  await Promise.all(
    pods.map(async (pod) => {
      if (pod.state === "running" || pod.state === "restarting") {
        await stopGently(context.engine, pod);
      }
      await context.engine.remove(pod);
    }),
  );
  if (pods.length > 0) await context.pods.refresh(key);
}

/** Commands of its releases that run: what they were for is gone. Those of a namesake that was applied since go on. */
async function removeCommands(context: Context, key: ManifestKey): Promise<void> {
  if (key.kind !== "deployment") return;
  const found = await context.engine.observe(releaseContainers(key));
  const orphaned = found.filter(
    ({ identity }) =>
      identity?.role === "release" && context.store.releases.get(identity.releaseId ?? "") === undefined,
  );
  await Promise.all(
    orphaned.map(async (pod) => {
      if (pod.state === "running") await stopGently(context.engine, pod);
      await context.engine.remove(pod);
    }),
  );
}

async function wipe(context: Context, key: ManifestKey): Promise<PruneSummary> {
  const summary = emptySummary();
  if (key.kind === "statefulset") await removeVolumes(context, key, summary);
  await pruneNamedVolumes(context, key, {
    summary,
    attempt: (what, remove) => removing(summary, what, remove),
  });
  // A namesake of another kind still uses the folders. One of this kind was applied again and begins with empty ones.
  const namesakes = context.store.manifests.list({ scope: key.scope, name: key.name });
  if (namesakes.every(({ kind }) => kind === key.kind)) await wipeFiles(context, key, summary);
  summary.volume_removed ||= summary.volumes_removed.length > 0;
  return summary;
}

async function wipeFiles(context: Context, key: ManifestKey, summary: PruneSummary): Promise<void> {
  const id = appId(key.scope, key.name);
  try {
    summary.app_dir_removed = await removeAppDir(context.layout, id);
    summary.volume_removed = await removeVolumeDir(context.layout, id);
  } catch (error) {
    summary.errors.push(error instanceof Error ? error.message : String(error));
  }
}

async function removeVolumes(context: Context, key: ManifestKey, summary: PruneSummary): Promise<void> {
  for (const name of await claimVolumes(context, key)) {
    await removing(summary, `volume ${name}`, async () => {
      await context.engine.removeVolume(name);
      summary.volumes_removed.push(name);
    });
  }
  const records = context.store.volumes.list(key);
  await context.store.write((tx) => {
    for (const record of records) tx.volumes.remove(record.volume);
  });
}

/** Notes what cannot be removed, so that the rest is. */
async function removing(summary: PruneSummary, what: string, remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (isPassing(error)) throw error;
    summary.errors.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The mark stays, and the rest is done once the engine answers again. */
function isPassing(error: unknown): boolean {
  return error instanceof Failure && (error.code === "unavailable" || error.code === "timeout");
}

const stillUnderWay = "the tear-down is still under way and goes on by itself";
const whenStarted = "the server is stopping: containers, volumes and files go when it has started again";
const whenBack = "docker is away: containers, volumes and files go when it is back";

export function emptySummary(): PruneSummary {
  return { config_wiped: false, app_dir_removed: false, volume_removed: false, volumes_removed: [], errors: [] };
}
