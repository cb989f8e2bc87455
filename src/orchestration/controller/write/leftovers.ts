import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { Leftover } from "../../api/leftovers.ts";
import { drillRole } from "../../core/drill-spec.ts";
import { engineVolumeName } from "../../core/named-volumes.ts";
import { appId } from "../../core/naming.ts";
import { listAppDirs } from "../../../base/disk/app-dirs.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";

/** GET /leftovers: what deletes without prune left of resources that are gone. */
export async function listLeftovers(context: Context, { scope, name }: Target) {
  const { found, errors } = await leftovers(context);
  const wanted = found.filter((it) => (!scope || it.scope === scope) && (!name || it.name === name));
  return { leftovers: wanted, ...(errors.length > 0 ? { errors } : {}) };
}

/** What is wiped under a key. `called`: the word for it, where no resource of any kind is known to have left it. */
export interface LeftKey extends ManifestKey {
  called?: string;
}

/**
 * What a delete with prune has to wipe beside what is stored; `kind` where only one is meant. What a delete before it
 * has not torn down yet is part of it: a prune has to wait for those containers.
 */
export async function leftoverKeys(context: Context, where: Target): Promise<LeftKey[]> {
  // Looking takes a while: what is torn down by then counts as well.
  const before = marksWithoutManifest(context, where);
  const { leftovers: found } = await listLeftovers(context, where);
  const goingDown = [...before, ...marksWithoutManifest(context, where)];
  const known = found
    .filter((it) => it.name !== "" && it.volumes.length + it.config_keys + it.folders.length > 0)
    .flatMap(({ scope, name, kinds, config_keys: keys }): LeftKey[] => {
      const going = goingDown.filter((key) => key.scope === scope && key.name === name).map(({ kind }) => kind);
      const gone = [...kinds, ...going];
      // Config and folders belong to no kind: any wipes them.
      if (gone.length > 0) return gone.map((kind) => ({ kind, scope, name }));
      return [{ kind: where.kind ?? "deployment", scope, name, called: keys > 0 ? "config" : "files" }];
    });
  const all: LeftKey[] = [...known, ...goingDown].filter(({ kind }) => where.kind === undefined || kind === where.kind);
  return [...new Map(all.map((key) => [formatKey(key), key])).values()];
}

function marksWithoutManifest({ store }: Context, { scope, name }: Target): ManifestKey[] {
  return store.deletions
    .list()
    .filter((mark) => (!scope || mark.scope === scope) && (!name || mark.name === name))
    .filter((mark) => store.manifests.get(mark) === undefined)
    .map(keyOf);
}

async function leftovers(context: Context): Promise<{ found: Leftover[]; errors: string[] }> {
  const rows = createRows();
  const errors: string[] = [];
  const known = knownVolumes(context, rows);
  fromConfig(context, rows);
  await noting(errors, "folders", () => fromFolders(context, rows));
  await noting(errors, "volumes", () => fromEngine(context, rows, known));
  return { found: rows.list(), errors };
}

/** Rows by scope and name, made when something is first found. */
function createRows() {
  const rows = new Map<string, Leftover>();
  return {
    of(scope: string, name: string): Leftover {
      const id = `${scope}/${name}`;
      const row = rows.get(id) ?? { scope, name, kinds: [], volumes: [], config_keys: 0, folders: [], kept: [] };
      rows.set(id, row);
      return row;
    },
    scopes: () => [...rows.values()].map(({ scope }) => scope),
    list: () => [...rows.values()].sort((a, b) => (`${a.scope}/${a.name}` < `${b.scope}/${b.name}` ? -1 : 1)),
  };
}

type Rows = ReturnType<typeof createRows>;

function addVolume(rows: Rows, { kind, scope, name }: ManifestKey, volume: string): void {
  const row = rows.of(scope, name);
  if (!row.kinds.includes(kind)) row.kinds.push(kind);
  if (!row.volumes.includes(volume)) row.volumes.push(volume);
}

/** From our own records. Returns the engine's names of all of them, of stored resources too. */
function knownVolumes({ store, names }: Context, rows: Rows): Set<string> {
  const known = new Set<string>();
  const isStored = (key: ManifestKey) => store.manifests.get(key) !== undefined;
  for (const record of store.volumes.all()) {
    known.add(record.volume);
    if (!isStored(record)) addVolume(rows, record, record.volume);
  }
  for (const use of store.namedVolumes.all()) {
    const { owner, volume, plain } = use;
    const users = store.namedVolumes.users(owner, volume);
    const inUse = users.some(isStored);
    // What another scope owns, or has its plain name in the engine, no prune of this user removes: see `fromEngine`.
    if (!inUse && (plain || users.every(({ scope }) => scope !== owner))) continue;
    const engineName = engineVolumeName({ owner, name: volume, external: false }, names, () => plain);
    known.add(engineName);
    if (!inUse && use.scope === owner) addVolume(rows, use, engineName);
  }
  return known;
}

function fromConfig(context: Context, rows: Rows): void {
  for (const { scope, name, keys } of context.store.config.buckets()) {
    if (!isStoredUnder(context, scope, name)) rows.of(scope, name).config_keys = keys;
  }
}

/** Whether anything is stored under the name; under the whole scope where the name is empty. */
function isStoredUnder({ store }: Context, scope: string, name: string): boolean {
  const where = name === "" ? { scope } : { scope, name };
  return store.manifests.list(where).length + store.blocks.list(where).length > 0;
}

/** A folder is called `<scope>-<name>`: the longest scope that is known tells where to split, else the first dash. */
async function fromFolders(context: Context, rows: Rows): Promise<void> {
  const heads = context.store.manifests.heads();
  const stored = new Set(heads.map(({ scope, name }) => appId(scope, name)));
  const scopes = new Set([...heads.map(({ scope }) => scope), ...rows.scopes()]);
  for (const { appId: id, path } of await listAppDirs(context.layout)) {
    if (stored.has(id)) continue;
    const owner = [...scopes].filter((scope) => id.startsWith(`${scope}-`)).sort((a, b) => b.length - a.length)[0];
    const dash = owner === undefined ? id.indexOf("-") : owner.length;
    rows.of(dash < 0 ? "" : id.slice(0, dash), id.slice(dash + 1)).folders.push(path);
  }
}

/** Unused volumes that have a plain name in the engine: those from before carry no labels. */
async function fromPlainNames({ engine, store }: Context, rows: Rows, known: Set<string>): Promise<void> {
  const isStored = (key: ManifestKey) => store.manifests.get(key) !== undefined;
  for (const { scope, name, owner, volume, plain } of store.namedVolumes.all()) {
    if (!plain || known.has(volume) || store.namedVolumes.users(owner, volume).some(isStored)) continue;
    known.add(volume);
    if ((await engine.inspectVolume(volume)) === undefined) continue;
    rows.of(scope, name).kept.push(keptText(volume));
  }
}

function keptText(volume: string): string {
  return `${volume}: docker volume rm ${volume}`;
}

/** Volumes that carry our labels and that no record of ours knows. */
async function fromEngine(context: Context, rows: Rows, known: Set<string>): Promise<void> {
  const { engine, store, names, link } = context;
  link.require();
  await fromPlainNames(context, rows, known);
  const { label } = names;
  for (const { name: volume, labels } of await engine.listVolumes({ [label.installation]: store.installationId })) {
    if (known.has(volume) || labels[label.role] === drillRole) continue;
    const { [label.scope]: scope = "", [label.name]: name, [label.kind]: kind } = labels;
    if (kind !== undefined && name !== undefined) {
      if (store.manifests.get({ kind, scope, name }) === undefined) addVolume(rows, { kind, scope, name }, volume);
    } else rows.of(scope, "").kept.push(keptText(volume));
  }
}

async function noting(errors: string[], what: string, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    errors.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
