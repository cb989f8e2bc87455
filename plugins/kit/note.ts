import type { Cluster } from "./cluster.ts";

/** The primary of a cluster where no pod takes writes or ever will by itself. */
export const nobody = -1;

/**
 * What a promotion is about to do. It is in the config of the block from before the first step until after the last, so
 * that the command which finds it knows how to finish or undo what was cut off.
 */
export interface Note {
  /** Pod that was primary; `nobody` if there was none. */
  from: number;
  /** Pod that is to be primary. Until the config names it, another one may be chosen. */
  to: number;
  /** Number that the config gets together with the new primary: a lower one there means that nothing is decided yet. */
  epoch: number;
  /** Whether the old primary comes back as a standby. */
  rejoin: boolean;
  /** It did not work, and the old primary is to start again. */
  undo: boolean;
  /** ISO 8601. */
  at: string;
  /** Id of the plugin's run that wrote it. */
  run: string;
}

/** The note of a promotion that is under way or was cut off; a text that cannot be read counts as none. */
export function readNote({ config, kind }: Pick<Cluster, "config" | "kind">): Note | undefined {
  let value: unknown;
  try {
    value = JSON.parse(config[kind.noteKey] ?? "");
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { from, to, epoch, rejoin, undo, at, run }: Record<string, unknown> = { ...value };
  if (typeof from !== "number" || typeof to !== "number" || typeof epoch !== "number") return undefined;
  return { from, to, epoch, rejoin: rejoin === true, undo: undo === true, at: String(at), run: String(run) };
}

/** Writes the note alone. Nothing is decided by it. */
export async function writeNote(cluster: Cluster, note: Note): Promise<void> {
  await set(cluster, noteVars(cluster, note));
}

export async function clearNote(cluster: Cluster): Promise<void> {
  await set(cluster, { [cluster.kind.noteKey]: "" });
}

/** Decides who is primary. The note comes with it, in one write. */
export async function writePlace(
  cluster: Cluster,
  { primary, epoch, note }: { primary: number; epoch: number; note?: Note },
): Promise<void> {
  const { primaryKey, epochKey } = cluster.kind;
  const vars = { [primaryKey]: String(primary), [epochKey]: String(epoch) };
  await set(cluster, { ...vars, ...(note === undefined ? {} : noteVars(cluster, note)) });
}

function noteVars({ kind }: Cluster, note: Note): Record<string, string> {
  return { [kind.noteKey]: JSON.stringify(note) };
}

async function set(cluster: Cluster, vars: Record<string, string>): Promise<void> {
  await cluster.controller.setConfig(cluster.of, vars);
  for (const [key, value] of Object.entries(vars)) {
    if (value === "") delete cluster.config[key];
    else cluster.config[key] = value;
  }
}
