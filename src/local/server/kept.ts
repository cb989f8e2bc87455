import { existsSync, readFileSync } from "node:fs";
import { copyFile, link, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeBackup } from "../../base/disk/backup.ts";
import { readKey } from "../../base/disk/key-file.ts";
import type { Layout } from "../../base/disk/layout.ts";
import { withDatabase } from "../../base/sqlite/database.ts";
import { schemaOf } from "../../base/sqlite/migrate.ts";
import { copiesBeside } from "../staging.ts";
import { copyDatabase } from "../../orchestration/store/copy.ts";

/** An executable that was replaced, and the state as it was then. */
export interface Kept {
  folder: string;
  /** Version of the executable: `0.1.0 (commit: 0123456789ab)`. */
  version: string;
  /** When it was replaced, epoch milliseconds. */
  at: number;
  schemas: Schemas;
  executable: string;
  /** A backup, not sealed; undefined where the server had no state yet. */
  backup: string | undefined;
}

/** Versions of the databases; 0 where there is none. */
interface Schemas {
  state: number;
  identity: number;
  /** Left out by versions that do not know it, and do not open it. */
  observability?: number;
}

const record = "upgrade.json";
const upgradesOf = ({ root }: Layout) => join(root, "upgrades");

export function schemasOf({ database, identityDatabase, observabilityDatabase }: Layout): Schemas {
  const of = (file: string) => (existsSync(file) ? withDatabase(file, schemaOf) : 0);
  return { state: of(database), identity: of(identityDatabase), observability: of(observabilityDatabase) };
}

export function isSameSchema(one: Schemas, other: Schemas): boolean {
  const isKnown = one.observability !== undefined && other.observability !== undefined;
  const isSame = one.state === other.state && one.identity === other.identity;
  return isSame && (!isKnown || one.observability === other.observability);
}

/** Keeps the executable and the state of a server, which may run. The folder appears when it is whole. */
export async function keep(
  layout: Layout,
  { executable, version }: Pick<Kept, "executable" | "version">,
): Promise<Kept> {
  const at = Date.now();
  const folder = join(upgradesOf(layout), new Date(at).toISOString().replaceAll(":", "-"));
  const making = join(upgradesOf(layout), ".making");
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true, mode: 0o700 });
  // A second name is enough: executables are replaced, and never written to.
  await link(executable, join(making, "berth")).catch(() => copyFile(executable, join(making, "berth")));
  const schemas = schemasOf(layout);
  const key = await readKey(layout.key);
  if (key !== undefined && schemas.state > 0) await backupInto(join(making, "state.backup"), layout, { key, now: at });
  await writeFile(join(making, record), `${JSON.stringify({ version, at, schemas })}\n`, { mode: 0o600 });
  await rename(making, folder);
  return readKept(folder);
}

function backupInto(
  target: string,
  layout: Layout,
  { key, now }: { key: NonNullable<Awaited<ReturnType<typeof readKey>>>; now: number },
): Promise<void> {
  return writeBackup({
    copyDatabase: (copy) => copyDatabase(layout.database, copy),
    copyBeside: copiesBeside(layout),
    ...{ key, passphrase: undefined, target, now },
  });
}

/** The newest first. */
export async function listKept(layout: Layout): Promise<Kept[]> {
  const names = await readdir(upgradesOf(layout)).catch(() => []);
  const folders = names.filter((name) => !name.startsWith(".")).map((name) => join(upgradesOf(layout), name));
  return folders
    .filter((folder) => existsSync(join(folder, record)))
    .map(readKept)
    .toSorted((one, other) => other.at - one.at);
}

export async function trimKept(layout: Layout, count: number): Promise<void> {
  for (const { folder } of (await listKept(layout)).slice(count)) await rm(folder, { recursive: true, force: true });
}

function readKept(folder: string): Kept {
  const { version, at, schemas } = JSON.parse(readFileSync(join(folder, record), "utf8"));
  const backup = join(folder, "state.backup");
  return {
    folder,
    version,
    at,
    schemas,
    executable: join(folder, "berth"),
    backup: existsSync(backup) ? backup : undefined,
  };
}
