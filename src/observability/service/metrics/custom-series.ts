/** Which series apps have of their own, and since when nothing came for each. */
interface CustomSeries {
  /** Something came for the series. */
  seen(app: string, id: number, at: number): void;
  /** Whether the app may have one more. */
  hasRoom(app: string, at: number): boolean;
  forget(app: string, id: number): void;
}

export interface CustomLimits {
  /** Series of one app that got values lately. */
  customSeriesPerAppMax: number;
  /** Series of one app, and of all, with those whose past is still kept. */
  customKeptPerAppMax: number;
  customKeptMax: number;
  customActiveMs: number;
}

interface Own {
  lastAt: Map<number, number>;
  active: number;
  countedAt: number;
}

/** How often the active ones are counted again. */
const countMs = 60_000;

/**
 * An app that once used too many attributes may begin with others when the old ones have been quiet for a while, although
 * their past stays. No app, and not all together, take the room of what the server measures itself.
 */
export function createCustomSeries(limits: CustomLimits): CustomSeries {
  const apps = new Map<string, Own>();
  let kept = 0;

  function activeOf(own: Own, at: number): number {
    if (Math.abs(at - own.countedAt) < countMs) return own.active;
    own.countedAt = at;
    own.active = 0;
    for (const lastAt of own.lastAt.values()) if (at - lastAt < limits.customActiveMs) own.active += 1;
    return own.active;
  }

  return {
    seen(app, id, at) {
      const own = apps.get(app) ?? { lastAt: new Map<number, number>(), active: 0, countedAt: 0 };
      apps.set(app, own);
      if (!own.lastAt.has(id)) {
        kept += 1;
        own.active += 1;
      }
      own.lastAt.set(id, at);
    },
    hasRoom(app, at) {
      const own = apps.get(app);
      if (kept >= limits.customKeptMax) return false;
      if (own === undefined) return true;
      return own.lastAt.size < limits.customKeptPerAppMax && activeOf(own, at) < limits.customSeriesPerAppMax;
    },
    forget(app, id) {
      const own = apps.get(app);
      if (own?.lastAt.delete(id) !== true) return;
      kept -= 1;
      own.countedAt = 0;
      if (own.lastAt.size === 0) apps.delete(app);
    },
  };
}
