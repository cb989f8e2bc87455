import type { Context } from "../state/context.ts";

/**
 * Stops a container with the grace that it was made with: its manifest may be gone or say something else by now.
 * A missing one is fine.
 */
export async function stopGently(context: Context, id: string): Promise<void> {
  const container = await context.runtime.inspect(id);
  if (container === undefined) return;
  await context.runtime.stop(id, { graceMs: container.stopGraceMs });
}
