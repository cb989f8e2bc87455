import type { ManifestKey } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";

interface Note {
  action: string;
  replica: string;
  why: string;
}

/** Records what was done to a replica, and why. */
export async function note(context: Context, key: ManifestKey, { action, replica, why }: Note): Promise<void> {
  const { kind, scope, name } = key;
  const event = { actor: "reconciler", action, kind, scope, name, detail: { replica_id: replica, why } };
  await context.notes.write((tx) => tx.events.append(event, context.clock.now()), { durable: false });
}
