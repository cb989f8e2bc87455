import type { Restic } from "../restic/restic.ts";

/** Tells locks that are left over from those of a living command, without asking the clock of another machine. */
export interface Locks {
  /**
   * Whether `restic unlock` removes nothing that is in use. Locks of this server are left to restic, which knows whether their
   * process lives. Another machine's is left over when it stayed the same for long: a living command renews its lock.
   */
  areLeftOver(restic: Restic, env: Readonly<Record<string, string>>): Promise<boolean>;
}

export function createLocks(steady: () => number, limits: { askMs: number; lockStaleMs: number }): Locks {
  /** When each lock of another machine was first seen. */
  let seenAt = new Map<string, number>();
  return {
    async areLeftOver(restic, env) {
      const ask = (...words: string[]) =>
        restic.run({ words: [...words, "--no-lock", "--quiet"], env, timeoutMs: limits.askMs });
      const ids = (await ask("list", "locks")).stdout.split("\n").filter((id) => /^[0-9a-f]{64}$/.test(id));
      const ours = await restic.host?.();
      const others: string[] = [];
      for (const id of ids) {
        if (ours === undefined || hostOf((await ask("cat", "lock", id)).stdout) !== ours) others.push(id);
      }
      const now = steady();
      seenAt = new Map(others.map((id) => [id, seenAt.get(id) ?? now]));
      return [...seenAt.values()].every((since) => now - since >= limits.lockStaleMs);
    },
  };
}

function hostOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { hostname?: unknown }).hostname;
  } catch {
    return undefined;
  }
}
