import type { Labels } from "../../../src/orchestration/core/naming.ts";
import type { ContainerSpec } from "../../../src/orchestration/core/workload.ts";
import type { Container, ContainerDetail } from "../../../src/orchestration/engine/container.ts";

/** A container with its listing row made ready. Replaced whole at every change, so that rows handed out stay true. */
export interface Entry {
  readonly spec: ContainerSpec;
  readonly detail: ContainerDetail;
  readonly row: Container;
}

/** Containers by id and by name, with an index over (kind, scope, name): a listing must not look at ten thousand others. */
export interface ContainerTable {
  get(nameOrId: string): Entry | undefined;
  has(name: string): boolean;
  put(spec: ContainerSpec, detail: ContainerDetail): Entry;
  delete(id: string): void;
  rows(filter: { kind?: string; scope?: string; name?: string }): Container[];
  entries(): Iterable<Entry>;
}

export function createContainerTable(label: Labels): ContainerTable {
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
    put: (spec, detail) => {
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

function rowOf(detail: ContainerDetail): Container {
  const { id, name, image, imageId, state, status, createdAt, labels, joined, addresses } = detail;
  return { id, name, image, imageId, state, status, createdAt, labels, joined, addresses };
}
