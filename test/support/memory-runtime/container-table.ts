import type { Naming } from "../../../src/orchestration/core/naming.ts";
import type { ContainerSpec } from "../../../src/orchestration/core/workload.ts";
import { placed } from "../../../src/orchestration/engine/identity.ts";
import type { InspectedPod, ObservedPod } from "../../../src/orchestration/engine/pod.ts";

/** A container before it says whose it is and where it is reached. */
export type Unplaced = Omit<InspectedPod, "node" | "identity" | "address">;

/** A container with its listing row made ready. Replaced whole at every change, so that rows handed out stay true. */
export interface Entry {
  readonly spec: ContainerSpec;
  readonly detail: InspectedPod;
  readonly row: ObservedPod;
}

/** Containers by id and by name, with an index over (kind, scope, name): a listing must not look at ten thousand others. */
export interface ContainerTable {
  get(nameOrId: string): Entry | undefined;
  has(name: string): boolean;
  put(spec: ContainerSpec, container: Unplaced): Entry;
  delete(id: string): void;
  rows(filter: { kind?: string; scope?: string; name?: string }): ObservedPod[];
  entries(): Iterable<Entry>;
}

export function createContainerTable(names: Naming): ContainerTable {
  const { label } = names;
  const byId = new Map<string, Entry>();
  const idByName = new Map<string, string>();
  const byKey = new Map<string, Map<string, Entry>>();

  const keyOf = (labels: Record<string, string>) =>
    `${labels[label.kind]}/${labels[label.scope]}/${labels[label.name]}`;

  const forget = (id: string) => {
    const entry = byId.get(id);
    if (entry === undefined) return;
    byId.delete(id);
    idByName.delete(entry.detail.name);
    const key = keyOf(entry.detail.labels);
    const group = byKey.get(key);
    group?.delete(id);
    if (group?.size === 0) byKey.delete(key);
  };

  return {
    get: (nameOrId) => byId.get(nameOrId) ?? byId.get(idByName.get(nameOrId) ?? ""),
    has: (name) => idByName.has(name),
    put: (spec, container) => {
      const detail = placed(container, names);
      const before = byId.get(detail.id);
      if (before !== undefined) idByName.delete(before.detail.name);
      const entry = { spec, detail, row: rowOf(detail) };
      byId.set(detail.id, entry);
      idByName.set(detail.name, detail.id);
      const key = keyOf(detail.labels);
      const group = byKey.get(key) ?? new Map<string, Entry>();
      byKey.set(key, group.set(detail.id, entry));
      return entry;
    },
    delete: forget,
    rows: ({ kind, scope, name }) => {
      const exact = kind !== undefined && scope !== undefined && name !== undefined;
      const entries = exact ? byKey.get(`${kind}/${scope}/${name}`) : byId;
      const rows = Array.from(entries?.values() ?? [], ({ row }) => row);
      const given = [[label.kind, kind] as const, [label.scope, scope] as const, [label.name, name] as const];
      const asked = exact ? [] : given.filter(([, value]) => value !== undefined);
      return asked.length === 0
        ? rows
        : rows.filter(({ labels }) => asked.every(([key, value]) => labels[key] === value));
    },
    entries: () => byId.values(),
  };
}

function rowOf(detail: InspectedPod): ObservedPod {
  const { node, id, name, image, imageId, state, status, createdAt, labels, joined, addresses, identity, address } =
    detail;
  const place = { node, id, identity, address };
  return { ...place, name, image, imageId, state, status, createdAt, labels, joined, addresses };
}
