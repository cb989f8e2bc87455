import { generateDockerfile } from "../../orchestration/core/build/generate.ts";
import { type Hints, readHints } from "../../orchestration/core/build/hints/hints.ts";
import { isBuiltIn, needsMark } from "../../orchestration/core/build/evidence/needs.ts";
import { dockerPort, missingIn, portIn, servesDevelopers } from "../../orchestration/core/build/hints/commands.ts";
import { inFolder } from "../../orchestration/core/build/node/parts.ts";
import { readPackage } from "../../orchestration/core/build/node/package-json.ts";
import type { Process } from "../../orchestration/core/build/procfile.ts";
import { type GeneratedBuild, namesStart, type SourceTree } from "../../orchestration/core/build/runtime.ts";
import { readEnvFile } from "../manifests/env-file.ts";
import { withSignals } from "../../orchestration/core/build/with-signals.ts";

/** What a folder with source says of the app in it. */
export interface Findings {
  /** For people: what the image is made by, `Dockerfile` or `node (package.json)`. */
  source: string;
  /** Where the program listens, as far as the Dockerfile or another platform's file says. */
  port: number | undefined;
  /** The program reads that port from PORT. */
  tellsPort?: boolean;
  processes: (Process & { from?: string })[];
  /** An env file and the names of its variables. */
  env: { file: string; keys: string[] } | undefined;
  /** What was assumed of a folder without a Dockerfile, each with what to change. */
  notes: string[];
  /** A path that answers once the program is ready, and the file that says so. */
  health?: { path: string; from: string } | undefined;
  /** How many replicas a process has, by its type, and the file that says so. */
  counts?: Hints["counts"];
  /** Variables with their values, and the file that gives them. */
  values?: { from: string; values: Record<string, string> } | undefined;
  /** The part of the folder that holds the app: of a workspace, or to be built by itself. */
  place?: { path: string } | { context: string } | undefined;
}

/** A note as it is shown: what is neither taken from a file nor needed was assumed. */
export function noteText(note: string): string {
  return note.startsWith("taken from ") || note.startsWith(needsMark) ? note : `assumed: ${note}`;
}

/** `problem`: the folder cannot be built as it is. */
export type Look = { ok: true; findings: Findings } | { ok: false; problem: string };

const envFiles = [
  ...[".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example", ".env.production.example"],
  ...["env.example", "env.sample", "example.env", "sample.env", ".sample.env", "env-example", ".env"],
];

/** Looks at the source; nothing is run. `path` is the part of it that holds the app. */
export function lookAt(tree: SourceTree, path?: string): Look {
  const isDocker = tree.has("Dockerfile");
  const hints = readHints(tree, isDocker ? "Dockerfile" : "language");
  const place = path === undefined && !isDocker ? placeOf(tree, hints) : undefined;
  const source = place !== undefined && "context" in place ? inFolder(tree, place.context) : tree;
  const own = source.read("Dockerfile");
  const named = path ?? (place !== undefined && "path" in place ? place.path : undefined);
  const generated = own === undefined ? generateDockerfile(source, { path: named }) : undefined;
  if (generated?.ok === false) return generated;
  const build = generated?.build;
  const fitted = fitProcesses(source, hints.processes, build);
  if ("problem" in fitted) return { ok: false, problem: fitted.problem };
  if (build?.noStart !== undefined && fitted.processes.length === 0) return { ok: false, problem: build.noStart };
  const values = valuesOf(hints);
  return {
    ok: true,
    findings: {
      source: build === undefined ? "Dockerfile" : `${build.runtime} (${build.because})`,
      ...portOf({ hints, fitted, build, dockerfile: own ?? build?.dockerfile ?? "" }),
      processes: fitted.processes,
      env: envOf(source, hints),
      notes: [
        ...taken(hints, fitted, values !== undefined),
        ...assumed(build, fitted),
        ...(own === undefined ? [] : dockerPort(own).notes),
        ...hints.notes,
      ],
      ...(hints.health === undefined ? {} : { health: { path: hints.health.value, from: hints.health.from } }),
      counts: hints.counts,
      ...(values === undefined ? {} : { values }),
      ...(place === undefined ? {} : { place }),
    },
  };
}

/** What is assumed of the build; not of a start or a migration that a file says otherwise. */
function assumed(build: GeneratedBuild | undefined, { processes, notes }: Fitted): string[] {
  const has = (type: string) => processes.some((process) => process.type === type);
  const isSaid = (note: string) =>
    (has("web") && note.endsWith(namesStart)) || (has("release") && note.startsWith("no migration runs"));
  return [...(build?.notes ?? []).filter((note) => !isSaid(note)), ...notes];
}

/** A folder that another platform builds: an app of a workspace, or a project by itself. */
function placeOf(tree: SourceTree, { folder }: Hints): Findings["place"] {
  if (folder === undefined || !tree.has(folder.value)) return undefined;
  const isWorkspace = readPackage(tree).workspaces.length > 0 && tree.has(`${folder.value}/package.json`);
  return isWorkspace ? { path: folder.value } : { context: folder.value };
}

interface Ports {
  hints: Hints;
  fitted: Fitted;
  build: GeneratedBuild | undefined;
  dockerfile: string;
}

/** A port in a command is fixed. Another platform's counts where the program asks for its port, and the manifest sets it then. */
function portOf({ hints, fitted, build, dockerfile }: Ports): Pick<Findings, "port" | "tellsPort"> {
  const web = fitted.processes.find(({ type }) => type === "web");
  const fixed = web === undefined ? undefined : portIn(web.command);
  const usual = build === undefined ? dockerPort(dockerfile).port : build.port;
  const hinted = hints.port?.value;
  if (fixed !== undefined) return { port: fixed };
  if (build === undefined) return { port: usual ?? hinted };
  const follows = usual !== undefined && hinted !== undefined && (build.readsPort || web !== undefined);
  return follows ? { port: hinted, tellsPort: true } : { port: usual };
}

function envOf(tree: SourceTree, { env }: Hints): Findings["env"] {
  for (const file of envFiles) {
    const text = tree.read(file);
    if (text === undefined) continue;
    const keys = Object.keys(readEnvFile({ name: file, text }, [])).filter((name) => !isBuiltIn(name));
    if (keys.length > 0) return { file, keys };
  }
  const open = Object.entries(env?.value ?? {}).filter(([name, value]) => value === undefined || isSecret(name));
  const keys = open.map(([name]) => name).filter((name) => !isPlatforms(name));
  return env === undefined || keys.length === 0 ? undefined : { file: env.from, keys };
}

function isSecret(name: string): boolean {
  return /SECRET|PASSWORD|PASSWD|TOKEN|CREDENTIAL|PRIVATE|(?:_|^)(?:KEY|PASS|DSN)$|DATABASE_URL|REDIS_URL|MONGO/i.test(
    name,
  );
}

/** What only another platform reads, or what the image and the manifest say themselves. */
function isPlatforms(name: string): boolean {
  return /^(?:PORT|HOST|NODE_ENV)$|_VERSION$|^(?:NIXPACKS|RENDER|RAILWAY|FLY|HEROKU|BUILDPACK|NPM_CONFIG)_/.test(name);
}

function valuesOf({ env }: Hints): Findings["values"] {
  if (env === undefined) return undefined;
  const plain = Object.entries(env.value).flatMap(([name, value]): [string, string][] =>
    value === undefined || isSecret(name) || isPlatforms(name) || value.includes("/opt/render/") ? [] : [[name, value]],
  );
  return plain.length === 0 ? undefined : { from: env.from, values: Object.fromEntries(plain) };
}

/** Which file said what. A Procfile is said by the comments of the manifest alone. */
function taken(hints: Hints, { processes }: Fitted, hasValues: boolean): string[] {
  const all: [from: string | undefined, what: string][] = [
    ...processes.map(({ from, type }): [string, string] => [
      from,
      type === "web" ? "the start command" : `${type} process`,
    ]),
    [hints.folder?.from, "the folder"],
    [hints.health?.from, "the health check"],
    [hasValues ? hints.env?.from : undefined, "variables"],
    [hints.counts?.from, "replicas"],
  ];
  const files = [...new Set(all.flatMap(([from]) => (from === undefined || from === "Procfile" ? [] : [from])))];
  return files.map((file) => {
    const what = all
      .filter(([from]) => from === file)
      .map(([, one]) => (one === "release process" ? "the release step" : one));
    return `taken from ${file}: ${what.join(", ")}`;
  });
}

type Hinted = Process & { from: string };

/** What of the processes runs in the image. */
interface Fitted {
  processes: Hinted[];
  notes: string[];
}

/**
 * The processes that other platforms run, as they run in the image. What a framework starts itself takes the place of a
 * server for developers, of one that is not in the image, and of a file that does not exist.
 */
function fitProcesses(
  tree: SourceTree,
  processes: readonly Hinted[],
  build: GeneratedBuild | undefined,
): Fitted | { problem: string } {
  const fitted: Fitted = { processes: [], notes: [] };
  for (const process of processes) {
    const { from, type, command } = process;
    const starts = `${type === "web" ? "the start command" : type} of ${from} ("${short(command)}")`;
    const missing = build === undefined ? undefined : missingIn(command, tree);
    if (missing !== undefined && type !== "web") fitted.notes.push(`${starts} starts ${missing}, which does not exist`);
    else if (missing !== undefined) {
      // The image may start nothing else than that.
      const isAll = build?.dockerfile.includes(JSON.stringify(["sh", "-c", withSignals(command)]));
      if (build?.noStart !== undefined || isAll === true)
        return { problem: `${starts} starts ${missing}, which does not exist: correct it` };
      fitted.notes.push(`${starts} is left out, as ${missing} does not exist; what the image starts itself is used`);
      continue;
    }
    const adapted = build?.adapt(command) ?? { command };
    const isForDevelopers =
      "command" in adapted && type === "web" && build !== undefined && servesDevelopers(command, tree);
    if (isForDevelopers && build.noStart === undefined) {
      fitted.notes.push(
        `${starts} is for developers, so ${programOf(build)} is started; to change that, write command`,
      );
      continue;
    }
    if ("command" in adapted) fitted.processes.push({ ...process, command: adapted.command });
    else if (type === "web") fitted.notes.push(`${starts} is not in the image, which starts ${adapted.instead}`);
    else fitted.notes.push(`${starts} is left out, as it is not in the image; to run it, write a Dockerfile`);
  }
  return fitted;
}

function short(command: string): string {
  return command.length > 80 ? `${command.slice(0, 77)}...` : command;
}

/** What the image starts by itself. */
function programOf({ dockerfile, runtime }: GeneratedBuild): string {
  const words = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1];
  try {
    return words === undefined ? runtime : (JSON.parse(words) as string[]).join(" ");
  } catch {
    return runtime;
  }
}
