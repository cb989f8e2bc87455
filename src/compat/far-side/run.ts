import { isFields } from "../../base/pure/fields.ts";
import { Failure } from "../../base/wire/failure.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { naming } from "../../orchestration/core/naming.ts";
import { isForwarded } from "./called-as.ts";
import { eventProgress, type Progress, textProgress } from "./events.ts";
import { buildManifest, procfileOf, type Receiving } from "./receiving.ts";
import type { Shape } from "./shapes.ts";
import { translate } from "./translate.ts";
import type { Errand } from "./verbs.ts";

/** Where the output of a command goes instead, and what it reads. */
export interface Replaced {
  stdout?: (text: string) => void;
  stderr?: (text: string) => void;
  stdin?: string;
}

/** The packed source from stdin, in a folder. */
export interface Received {
  /** Holds `tree`. */
  folder: string;
  /** What is not in it, because it looks like a secret. */
  secrets: readonly string[];
  /** Text of a file of the tree. */
  read(path: string): string | undefined;
  /** Puts a file beside the tree; answers with its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/** The program around it. */
export interface FarSideWorld {
  prefix: string;
  variables: Readonly<Record<string, string | undefined>>;
  /** Runs words of berth; `said`: something came out. */
  berth(argv: readonly string[], replaced: Replaced): Promise<{ code: number; said: boolean }>;
  receive(): Promise<Received>;
  out(text: string): void;
  note(text: string): void;
  now(): Date;
}

/** Carries out a command line of the contract's own client, typed here or sent over ssh. Answers with its exit code. */
export async function farSide(argv: readonly string[], world: FarSideWorld): Promise<number> {
  const { prefix, variables } = world;
  const { envPrefix } = naming(prefix);
  const speaksEvents = variables[`${envPrefix}_PROTOCOL`]?.startsWith("ndjson/") === true;
  const progress = () => (speaksEvents ? eventProgress(world) : textProgress(world));
  try {
    const errand = translate(argv, {
      prefix,
      forwarded: isForwarded(prefix, variables),
      controllerUrl: variables[`${envPrefix}_CONTROLLER_URL`] || undefined,
    });
    if (errand.type === "receive") return await received(errand, { world, progress: progress() });
    if (errand.shape !== undefined) return await shaped(errand, errand.shape, world);
    if (errand.told === "apply") return await applied(errand.argv, { world, progress: progress() });
    return await plain(errand, world);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    world.note(`error: ${error.message}\n`);
    return 1;
  }
}

type Run = Extract<Errand, { type: "run" }>;

async function plain(errand: Run, world: FarSideWorld): Promise<number> {
  const { argv, stdin, codes = "one" } = errand;
  let printed = false;
  const stdout = (text: string) => {
    printed = true;
    world.out(text);
  };
  const replaced = { ...(stdin === undefined ? {} : { stdin }), ...(codes === "changes" ? { stdout } : {}) };
  const { code, said } = await world.berth(argv, replaced);
  if (codes === "own") return code;
  if (code !== 0 && !said && !printed) world.note(`error: ${argv[0]} ended with ${code}\n`);
  return codeOf(code, codes === "changes" && printed);
}

/** That client knows 0 and 1, an interrupt, and 2 of `diff` where there are changes. */
function codeOf(code: number, hasChanges: boolean): number {
  if (code === 0 || code === 130) return code;
  return code === 2 && hasChanges ? 2 : 1;
}

/** The data of a JSON answer. Fails with what the server, or berth, said. */
async function ask(
  argv: readonly string[],
  world: FarSideWorld,
  replaced: Replaced = {},
): Promise<{ data: unknown; code: number }> {
  let text = "";
  const { code } = await world.berth(["-o", "json", ...argv], { ...replaced, stdout: (part) => (text += part) });
  const envelope = parse(text);
  if (envelope?.status === "ok") return { data: envelope.data, code };
  const said = typeof envelope?.error === "string" ? envelope.error : text.trim();
  throw new Failure("conflict", said === "" ? `${argv[0]} ended with ${code}` : said);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

async function shaped({ argv, codes }: Run, shape: Shape, world: FarSideWorld): Promise<number> {
  const { data, code } = await ask(argv, world);
  const text = shape(data);
  if (text !== "") world.out(text.endsWith("\n") ? text : `${text}\n`);
  return codeOf(code, codes === "changes");
}

interface Telling {
  world: FarSideWorld;
  progress: Progress;
}

interface Stored {
  kind: string;
  scope?: string;
  name: string;
  spec: Record<string, unknown>;
  metadata?: { revision?: number };
}

/** Stores, tells what became of each manifest, and follows the releases that run commands. */
async function applied(argv: readonly string[], { world, progress }: Telling): Promise<number> {
  const stderr = (text: string) => text.trimEnd() !== "" && progress.log(text.trimEnd(), "warn");
  const before = await storedRevisions(world);
  const { data } = await ask(argv, world, { stderr });
  const { applied: rows = [], pruned = [] } = data as { applied?: Stored[]; pruned?: string[] };
  const made = rows.map((row) => {
    const ref = formatKey({ kind: row.kind, scope: row.scope ?? "", name: row.name });
    const was = before.get(ref);
    const action = was === undefined ? "created" : was === row.metadata?.revision ? "unchanged" : "updated";
    progress.result(ref, action);
    return { row, action };
  });
  for (const ref of pruned) progress.result(ref, "pruned");
  let code = 0;
  for (const { row, action } of made) {
    if (row.kind !== "deployment" || row.spec.release === undefined || action === "unchanged") continue;
    const reference = `${row.scope}/${row.name}`;
    const releases = await releasesOf(reference, world);
    // A change that replaces no containers makes no release: the output of the last one is old.
    if (releases[0]?.revision !== row.metadata?.revision) continue;
    progress.begin("release", `release of ${reference}`);
    const stdout = (text: string) => {
      for (const line of lines(text)) progress.log(line);
    };
    const release = await world.berth(["release", "run", reference, "--follow"], { stdout });
    progress.end(release.code === 0 ? undefined : `the release of ${reference} failed`);
    if (release.code === 0) continue;
    const goesOn = releases.slice(1).some(({ status }) => status === "succeeded");
    const now = goesOn ? "the version before it goes on" : `no version of ${reference} was good before`;
    world.note(`error: the release of ${reference} failed; ${now}\n`);
    code = 1;
  }
  const count = (action: string) => made.filter((one) => one.action === action).length;
  progress.summary(
    `${count("created")} created, ${count("updated")} updated, ${count("unchanged")} unchanged, ${pruned.length} pruned`,
  );
  return code;
}

/** The newest first. */
async function releasesOf(reference: string, world: FarSideWorld): Promise<{ revision: number; status: string }[]> {
  const { data } = await ask(["releases", reference], world);
  const { releases = [] } = data as { releases?: { revision: number; status: string }[] };
  return releases;
}

async function storedRevisions(world: FarSideWorld): Promise<Map<string, number | undefined>> {
  const { data } = await ask(["get", "all"], world);
  const rows = Array.isArray(data) ? (data as Stored[]) : [];
  return new Map(
    rows.map(({ kind, scope = "", name, metadata }) => [formatKey({ kind, scope, name }), metadata?.revision]),
  );
}

const lines = (text: string): string[] => text.split(/\r?\n/).filter((line) => line !== "");

/** Builds what came on stdin. Of a Procfile all is applied as well. */
async function received(receiving: Receiving, { world, progress }: Telling): Promise<number> {
  progress.begin("receive", "Receiving source");
  const source = await world.receive().catch((error: unknown) => {
    progress.end(error instanceof Error ? error.message : String(error));
    throw error;
  });
  try {
    if (source.secrets.length > 0)
      progress.log(`left out, since they look like secrets: ${source.secrets.slice(0, 5).join(", ")}`, "warn");
    progress.end();
    const again = receiving.force ? ["--again"] : [];
    if (receiving.what === "procfile") {
      const manifests = procfileOf(receiving, { prefix: world.prefix, read: source.read });
      const file = source.write("procfile.json", JSON.stringify(manifests));
      await build(["build", "-f", file, "--latest", ...again], { world, progress });
      return await applied(["apply", "-f", file, "-y", "--no-wait"], { world, progress });
    }
    const spec = receiving.spec ?? (await storedSpec(receiving, world));
    const file = source.write("app.json", JSON.stringify(buildManifest(receiving, spec)));
    await build(["build", "-f", file, "--latest", ...again], { world, progress });
    return 0;
  } finally {
    source.remove();
  }
}

async function build(argv: readonly string[], { world, progress }: Telling): Promise<void> {
  progress.begin("build", "Building");
  let last = "";
  const tell = (text: string) => {
    for (const line of lines(text)) {
      last = line.startsWith("error: ") ? line.slice("error: ".length) : last;
      progress.log(line);
    }
  };
  const { code } = await world.berth(argv, { stdout: tell, stderr: tell });
  if (code === 0) return progress.end();
  const why = last === "" ? "the build failed" : last;
  progress.end(why);
  throw new Failure("conflict", why);
}

/** How the stored app is built. One that is not stored is built by what its folder holds. */
async function storedSpec(
  { scope, name }: { scope: string; name: string },
  world: FarSideWorld,
): Promise<Record<string, unknown> | undefined> {
  const { data } = await ask(["get", "all"], world);
  const rows = Array.isArray(data) ? (data as Stored[]) : [];
  const found = rows.filter((row) => row.scope === scope && row.name === name);
  const apps = found.filter(({ kind }) => kind === "deployment" || kind === "statefulset");
  if (apps.length > 1)
    throw new Failure("conflict", `${scope}/${name} is a deployment and a statefulset: say how to build with --spec`);
  return apps[0]?.spec;
}
