import { keyText } from "../../../orchestration/api/manifest-key.ts";
/** What a replica belongs to. */
interface PlaceOwner {
  kind: string;
  scope: string;
  name: string;
}

/** Gives each replica of an app a place, which the next replica takes over when it has gone: histories go on over deploys. */
export interface Places {
  /** The place of a replica: the ordinal where it has one, else the lowest that is free. */
  of(app: PlaceOwner, replica: { id: string; ordinal: number | undefined }): string;
  /** The replicas that there are now; the places of all others are free from here on. */
  keep(ids: ReadonlySet<string>): void;
}

export function createPlaces(): Places {
  /** App → container → place. */
  const taken = new Map<string, Map<string, number>>();
  return {
    of(owner, { id, ordinal }) {
      const app = keyText(owner);
      if (ordinal !== undefined) return String(ordinal);
      const places = taken.get(app) ?? new Map<string, number>();
      taken.set(app, places);
      const known = places.get(id);
      if (known !== undefined) return String(known);
      const used = new Set(places.values());
      let free = 0;
      while (used.has(free)) free += 1;
      places.set(id, free);
      return String(free);
    },
    keep(ids) {
      for (const [app, places] of taken) {
        for (const id of places.keys()) if (!ids.has(id)) places.delete(id);
        if (places.size === 0) taken.delete(app);
      }
    },
  };
}
