/** Rooms: the folders of a layer, such as src/client/init or src/orchestration/core/plan, and who imports whom. */
import { resolveImport, type Source } from "./source.ts";

/** File → files that it imports, of those that are given. */
export type Arrows = Map<string, Set<string>>;

export function importArrows(files: readonly Source[]): Arrows {
  const known = new Set(files.map(({ path }) => path));
  return new Map(
    files.map(({ path, imports }) => {
      const targets = imports.map((specifier) => resolveImport(path, specifier) ?? "");
      return [path, new Set(targets.filter((target) => known.has(target) && target !== path))];
    }),
  );
}

const services = ["orchestration", "identity", "ingress", "observability", "base"];

/** Undefined for a file that lies in the folder of its layer itself. */
export function roomOf(path: string): string | undefined {
  const parts = path.split("/").slice(0, -1);
  const depth = services.includes(parts[1] ?? "") ? 4 : 3;
  return parts.length < depth ? undefined : parts.slice(0, depth).join("/");
}

export const layerOfRoom = (room: string): string => room.slice(0, room.lastIndexOf("/"));

/** [from, to]: two rooms of one layer, with the files that make the arrow. */
export function roomArrows(arrows: Arrows): Map<string, Map<string, string[]>> {
  const between = new Map<string, Map<string, string[]>>();
  for (const [from, targets] of arrows) {
    const room = roomOf(from);
    if (room === undefined) continue;
    const reached = between.get(room) ?? new Map<string, string[]>();
    between.set(room, reached);
    for (const target of targets) {
      const other = roomOf(target);
      if (other === undefined || other === room || layerOfRoom(other) !== layerOfRoom(room)) continue;
      reached.set(other, [...(reached.get(other) ?? []), `${from} imports ${target}`]);
    }
  }
  return between;
}

/** Sets of two or more rooms of one layer that reach each other. */
export function roomCircles(arrows: Arrows): string[][] {
  const between = roomArrows(arrows);
  const reach = new Map([...between.keys()].map((start) => [start, reachedFrom(start, between)]));
  const seen = new Set<string>();
  const found: string[][] = [];
  for (const [start, reached] of reach) {
    if (seen.has(start)) continue;
    const members = [...reached].filter((other) => other !== start && reach.get(other)?.has(start));
    if (members.length === 0) continue;
    const circle = [start, ...members].sort();
    for (const member of circle) seen.add(member);
    found.push(circle);
  }
  return found;
}

function reachedFrom(start: string, between: ReadonlyMap<string, ReadonlyMap<string, unknown>>): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of between.get(next)?.keys() ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      open.push(target);
    }
  }
  return reached;
}
