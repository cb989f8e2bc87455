/** The largest weight that the proxy takes. */
const weightMax = 256;

interface Groups {
  /** Share of the requests, 0 to 1, for all new replicas together. */
  share: number;
  /** New replicas that can serve. */
  fresh: number;
  /** Old replicas that can serve. */
  old: number;
}

/** Weight of each replica of a group. 0: no requests at all. */
interface Weights {
  fresh: number;
  old: number;
}

/**
 * Weights that give the new replicas their share of the requests, however many there are of each. Where one of the groups
 * has no replica, the other serves all. A share between 0 and 1 leaves neither group without requests.
 */
export function canaryWeights({ share, fresh, old }: Groups): Weights {
  if (old === 0) return { fresh: weightMax, old: 0 };
  if (fresh === 0 || share <= 0) return { fresh: 0, old: weightMax };
  if (share >= 1) return { fresh: weightMax, old: 0 };
  // fresh·x : old·y = share : 1 − share
  const ratio = (share * old) / ((1 - share) * fresh);
  let best: Weights = { fresh: 1, old: 1 };
  let bestError = Number.POSITIVE_INFINITY;
  for (let larger = weightMax; larger >= 1; larger--) {
    const smaller = Math.max(1, Math.round(larger * Math.min(ratio, 1 / ratio)));
    const weights = ratio < 1 ? { fresh: smaller, old: larger } : { fresh: larger, old: smaller };
    const error = Math.abs(shareOf(weights, { fresh, old }) - share);
    if (error < bestError) [best, bestError] = [weights, error];
  }
  return best;
}

/** The share that the new replicas get by their weights. */
export function shareOf(weights: Weights, { fresh, old }: Pick<Groups, "fresh" | "old">): number {
  const all = weights.fresh * fresh + weights.old * old;
  return all === 0 ? 0 : (weights.fresh * fresh) / all;
}

/** A replica that can serve, of a resource with a canary release. */
interface Serving {
  hash: string;
  generation: number;
}

/** What the weights depend on; see `CanaryRecord`. */
interface Sharing extends Serving {
  mode: "steps" | "passed" | "kept" | "withdrawn";
  share: number;
  baseHash: string | undefined;
}

/**
 * Weight of each replica that can serve; undefined where all weigh the same. After the last step the share of the new
 * replicas only grows. Replicas that are to get no requests get all of them when there are no others.
 */
export function weightsOf(canary: Sharing, serving: readonly Serving[]): number[] | undefined {
  const isFresh = ({ hash, generation }: Serving) => hash === canary.hash && generation >= canary.generation;
  const isKept = (one: Serving) => !isFresh(one) && (canary.baseHash === undefined || one.hash === canary.baseHash);
  switch (canary.mode) {
    case "withdrawn":
      return without(serving, isFresh);
    case "kept":
      return without(serving, isKept);
    case "steps":
    case "passed": {
      const fresh = serving.filter(isFresh).length;
      const old = serving.length - fresh;
      const natural = canary.mode === "passed" ? fresh / Math.max(1, serving.length) : 0;
      const weights = canaryWeights({ share: Math.max(canary.share, natural), fresh, old });
      return serving.map((one) => (isFresh(one) ? weights.fresh : weights.old));
    }
  }
}

function without(serving: readonly Serving[], isLeftOut: (one: Serving) => boolean): number[] | undefined {
  return serving.every(isLeftOut) ? undefined : serving.map((one) => (isLeftOut(one) ? 0 : weightMax));
}
