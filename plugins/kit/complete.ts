import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import { type Cluster, podAt, podName, statusOf } from "./cluster.ts";
import { fence } from "./fence.ts";
import { followers } from "./followers.ts";
import { goBack, type Steps, takeOver } from "./handover.ts";
import { nobody, clearNote, type Note, readNote } from "./note.ts";
import { relink, type ServerKind } from "./server.ts";
import { PluginError } from "../kit.ts";

/** What became of a promotion that was cut off. */
export interface Settled {
  message: string;
  actions: Action[];
}

/** The end of a promotion: linked apps get their URLs, the old primary starts again as a standby, and the note goes. */
export async function complete(cluster: Cluster, kind: ServerKind, { from, rejoin }: Note): Promise<Action[]> {
  const actions = await relink(cluster, kind);
  if (rejoin && from !== nobody) {
    cluster.progress(`bringing pod ${from} back as a standby of pod ${cluster.primary}`);
    await cluster.controller.start(podName(cluster.of, from));
  }
  await clearNote(cluster);
  return actions;
}

/**
 * Finishes or undoes a promotion that was cut off; undefined where there is none. What the config does not name yet is
 * undone: the old primary has everything. What it names is finished: the old primary was down before it did.
 */
export async function settle(
  cluster: Cluster,
  kind: ServerKind,
  stepsOf: (target: number) => Steps,
): Promise<Settled | undefined> {
  const note = readNote(cluster);
  if (note === undefined) return undefined;
  if (note.undo || cluster.epoch < note.epoch) {
    await goBack(cluster, note);
    const back = note.from === nobody ? "nothing was changed" : `pod ${note.from} stays primary`;
    return { message: `undid the promotion of pod ${note.to}, which was cut off: ${back}`, actions: [] };
  }
  return finish(cluster, kind, { note, steps: stepsOf(note.to) });
}

async function finish(
  cluster: Cluster,
  kind: ServerKind,
  { note, steps }: { note: Note; steps: Steps },
): Promise<Settled> {
  const { from, to } = note;
  const status = await statusOf(cluster, podAt(cluster, to));
  if (status === undefined) {
    throw new PluginError(
      `pod ${to} is to be primary and does not answer, so the promotion that was cut off cannot be finished; see its log`,
    );
  }
  if (status.one("role") === "standby") {
    if (from !== nobody) await fence(cluster, from, () => Promise.resolve());
    await takeOver(cluster, note, steps.promoteMs);
  }
  await followers(cluster, from);
  const actions = await complete(cluster, kind, note);
  return { message: `finished the promotion of pod ${to}, which was cut off: it is primary`, actions };
}
