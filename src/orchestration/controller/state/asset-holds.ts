/** Asset files that an apply has written and not stored yet: no collection takes them away meanwhile. */
export interface AssetHolds {
  /** Until the answer is called. */
  hold(digests: Iterable<string>): () => void;
  has(digest: string): boolean;
}

export function createAssetHolds(): AssetHolds {
  const counts = new Map<string, number>();
  return {
    hold(digests) {
      const held = [...digests];
      for (const digest of held) counts.set(digest, (counts.get(digest) ?? 0) + 1);
      return () => {
        for (const digest of held.splice(0)) {
          const left = (counts.get(digest) ?? 1) - 1;
          if (left > 0) counts.set(digest, left);
          else counts.delete(digest);
        }
      };
    },
    has: (digest) => counts.has(digest),
  };
}
