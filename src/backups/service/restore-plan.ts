import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure, problemsFailure } from "../../base/wire/failure.ts";
import type { RestoreBody, RestoreWay } from "../api/restore.ts";
import { checkBody, chooseCopies, type VolumeCopy, volumeCopies } from "../core/restore-choice.ts";
import { noTarget } from "../core/target.ts";
import { isDump, readRoot, whatOf } from "../core/subject.ts";
import { planDatabases } from "./restore-database.ts";
import type { Planned, RestoreParts } from "./restore-parts.ts";
import { ofEachTarget } from "./shown.ts";

interface Plan {
  volumes: Planned[];
  /** Volumes that are missing, and that no target has a copy of. */
  uncopied: string[];
  unreachable: { target: string; why: string }[];
}

/**
 * Finds the copies and where each goes. Fails `invalid` for a request that fits no volume, `not_found` where there is no
 * such copy or path, `conflict` where the data cannot go there, `storage_full` where it does not fit.
 */
export async function planRestores(parts: RestoreParts, body: RestoreBody): Promise<Plan> {
  const path = checkBody(body);
  const { copies, unreachable } = await allCopies(parts, body.from, body.snapshot !== undefined);
  if (copies.length === 0 && unreachable.length > 0) {
    throw new Failure("unavailable", unreachable.map(({ target, why }) => `${target}: ${why}`).join("; "));
  }
  const { chosen, none } = chosenOf(copies, body);
  const wanted: Planned[] = [];
  for (const copy of chosen) {
    const place = await placeOf(parts, { copy, body, isOnly: chosen.length === 1 });
    if (place === undefined) continue;
    const { subject, target, id: snapshot, at } = copy;
    const root = readRoot(copy.tags);
    const bytes = await (await parts.source(target)).size(snapshot, path);
    wanted.push({ ...place, subject, target, snapshot, at, path, bytes, root });
  }
  const filled = await planDatabases(parts, body, chosen);
  // Where everything is asked for, a server without any copies of volumes may have none that is missing.
  const isAll =
    copies.length === 0 && body.way === undefined && [body.scope, body.volume, body.snapshot].every(isUnset);
  if (none !== undefined && filled.planned.length === 0 && !isAll) throw none;
  wanted.push(...filled.planned);
  unreachable.push(...filled.unreachable);
  const uncopied =
    body.way === undefined
      ? await missingWithout(parts, { copies: body.at === undefined ? copies : chosen, body, wanted })
      : [];
  if (wanted.length === 0) {
    const which = chosen.map(({ subject }) => whatOf(subject)).join(", ");
    if (uncopied.length > 0)
      throw new Failure(
        "conflict",
        `nothing to restore: no target has a copy of what is missing (${uncopied.join(", ")})`,
      );
    throw new Failure(
      "conflict",
      `nothing to restore: no volume is missing${which === "" ? "" : ` (${which})`}; add --in-place, --beside or --into`,
      { reason: "NothingMissing" },
    );
  }
  if (path !== undefined && wanted.length > 1) {
    const which = wanted.map(({ subject }) => whatOf(subject)).join(", ");
    throw problemsFailure([
      { path: "path", message: `is of one volume, and these fit: ${which}; name one with --volume` },
    ]);
  }
  await requireSpace(parts, wanted);
  return { volumes: wanted, uncopied, unreachable };
}

const isUnset = (value: unknown) => value === undefined;

/** The copies that are asked for, or why there are none: a database may come back without any. */
function chosenOf(copies: readonly VolumeCopy[], body: RestoreBody): { chosen: VolumeCopy[]; none?: Failure } {
  try {
    return { chosen: chooseCopies(copies, body) };
  } catch (error) {
    if (error instanceof Failure && error.code === "not_found") return { chosen: [], none: error };
    throw error;
  }
}

/** What the engine lacks, of the apps that are asked for, and no copy can bring back. */
async function missingWithout(
  { volumes, dumps }: RestoreParts,
  {
    copies,
    body: { scope, name },
    wanted,
  }: { copies: readonly VolumeCopy[]; body: RestoreBody; wanted: readonly Planned[] },
): Promise<string[]> {
  const ofPlugins = wanted.filter(({ subject }) => isDump(subject)).flatMap(({ subject }) => dumps.find(subject) ?? []);
  const ofDatabases = wanted.flatMap(({ database }) => database?.claims ?? []);
  const filled = new Set([...ofPlugins, ...ofDatabases].map(({ volume }) => volume));
  const copied = new Set(copies.map(({ subject }) => whatOf(subject)));
  const asked = volumes
    .list()
    .filter((one) => (scope === undefined || one.scope === scope) && (name === undefined || one.name === name))
    .filter((one) => !copied.has(whatOf(one)) && !filled.has(one.volume));
  const found = await Promise.all(asked.map(async (one) => ((await volumes.find(one.volume)) ? [] : [whatOf(one)])));
  return found.flat();
}

/**
 * The copies of volumes at the targets that answer; those that cannot be restored whole only where one is named. Fails where
 * there is no such target, or none at all.
 */
export async function allCopies(
  parts: Pick<RestoreParts, "targets" | "source">,
  from: string | undefined,
  withDamaged = false,
) {
  if (from !== undefined && !parts.targets().includes(from))
    throw new Failure("not_found", `no target "${from}"; berth backup target list shows them`);
  const targets = from === undefined ? parts.targets() : [from];
  if (targets.length === 0) throw noTarget();
  const { found, unreachable } = await ofEachTarget(
    targets.map((name) => ({ name })),
    async ({ name }) => {
      const listed = await (await parts.source(name)).snapshots();
      return volumeCopies(name, withDamaged ? listed : listed.filter(({ isDamaged }) => !isDamaged));
    },
  );
  return { copies: found, unreachable };
}

type Place = Pick<Planned, "way" | "volume" | "labels" | "mount" | "into" | "replaces">;

/** Where a copy goes; undefined for a volume that is there when only missing ones were asked for. */
async function placeOf(
  parts: RestoreParts,
  { copy, body, isOnly }: { copy: VolumeCopy; body: RestoreBody; isOnly: boolean },
): Promise<Place | undefined> {
  const { subject } = copy;
  const what = whatOf(subject);
  const nothing = { labels: {}, mount: undefined, into: undefined, replaces: false };
  const way: RestoreWay = body.way ?? "missing";
  if (way === "into") {
    const into = [(body.into ?? "").replace(/\/+$/, ""), ...(isOnly ? [] : [what])].join("/");
    if (await parts.isOurs(into))
      throw new Failure("conflict", `"${into}" lies in the server's own folder; name one outside of it`);
    if (!(await parts.folders.isMissingOrEmpty(into)))
      throw new Failure("conflict", `"${into}" is there and not empty: name a new folder, what is there stays`);
    return { ...nothing, way, volume: undefined, into };
  }
  if (way === "beside") {
    if (isDump(subject))
      throw new Failure("conflict", `${what} is read by the plugin of the block: add --in-place, or --into a folder`);
    const when = isoTime(copy.at)
      .replace(/[-:]|\.\d+Z$/g, "")
      .toLowerCase();
    const base = subject.claim.replace(/^.*\//, "");
    const mount = [base, ...(subject.ordinal === undefined ? [] : [subject.ordinal]), "of", when].join("-");
    const made = parts.volumes.named(subject.scope, mount);
    if ((await parts.volumes.find(made.volume)) !== undefined)
      throw new Failure("conflict", `volume "${made.volume}" is there already, from the same copy; remove it first`);
    return { ...nothing, ...made, way, mount };
  }
  if (isDump(subject)) return dumpPlace(parts, { subject, body, isOnly });
  const app = parts.volumes.list().find((one) => whatOf(one) === what && one.kind === subject.kind);
  if (app === undefined) {
    if (body.way === undefined && !isOnly) return undefined;
    const text = `no app that is stored has the volume ${what}: apply the app first, or add --beside or --into`;
    throw new Failure("conflict", text);
  }
  const found = await parts.volumes.find(app.volume);
  const { volume, labels } = app;
  if (found === undefined) return { ...nothing, way: "missing", volume, labels };
  if (way === "missing") return undefined;
  if (found.mountpoint === undefined) {
    const text = `volume "${volume}" has a driver or options of its own, and cannot be replaced in place: add --into`;
    throw new Failure("conflict", text);
  }
  return { ...nothing, way, volume, labels, replaces: true };
}

/** The plugin of a block reads a dump where its pods lack a volume, or in place of what they have. */
async function dumpPlace(
  parts: RestoreParts,
  { subject, body, isOnly }: { subject: VolumeCopy["subject"]; body: RestoreBody; isOnly: boolean },
): Promise<Place | undefined> {
  const mounted = parts.dumps.find(subject);
  if (mounted === undefined) {
    if (body.way === undefined && !isOnly) return undefined;
    const text = `no block of a plugin with backup commands has become ${subject.scope}/${subject.name}`;
    throw new Failure("conflict", `${text}: apply the block first, or add --into`);
  }
  const there = await Promise.all(mounted.map(({ volume }) => parts.volumes.find(volume)));
  const isMissing = there.includes(undefined);
  if (body.way === undefined && !isMissing) return undefined;
  // An app that has lost a volume has no whole state to go back to.
  const way: RestoreWay = isMissing ? "missing" : "in_place";
  return { way, volume: undefined, labels: {}, mount: undefined, into: undefined, replaces: !isMissing };
}

/** A volume that the engine does not have yet will lie where the others do. */
async function requireSpace({ folders, volumes, limits }: RestoreParts, wanted: readonly Planned[]): Promise<void> {
  const needed = new Map<string, number>();
  for (const { into, volume = "", bytes } of wanted) {
    const mountpoint = volume === "" ? undefined : (await volumes.find(volume))?.mountpoint;
    const place = into ?? mountpoint ?? (await volumes.folder());
    const { disk, freeBytes } = await folders.space(place);
    const all = (needed.get(disk) ?? 0) + bytes;
    needed.set(disk, all);
    if (all + limits.restoreSpareBytes <= freeBytes) continue;
    const [wants, free, spare] = [all, freeBytes, limits.restoreSpareBytes].map(mebibytes);
    const text =
      `what is restored takes ${wants}, and of the ${free} that are free in ${place} ${spare} stay free: ` +
      "free some, or add --into with a folder on another disk";
    throw new Failure("storage_full", `${text}; nothing was changed`);
  }
}

const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;
