import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isFields } from "../../base/pure/fields.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { appHost, appIdentity, placeHere, placesInWords, scopeOfFolder } from "../build/place.ts";
import { withoutManifest } from "../init/without-manifest.ts";
import { noWords } from "../shell/words.ts";
import { type Pushed, pushedArguments, pushedOf, requireScope } from "./pushed.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { CommandBody, Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { manifestsAt, manifestsOfText } from "../shell/manifest-flags.ts";
import { visitorAddresses } from "./visitor-addresses.ts";
import type { ManifestSet } from "../manifests/read.ts";
import { ManifestError } from "../manifests/source.ts";
import { printable } from "../basics/style.ts";
import { applyCommand, applySet } from "./apply.ts";
import { upFromGit } from "./up-git.ts";
import { previewSet } from "./up-preview.ts";

export const upCommand: CommandBody = {
  usage: [
    "up [FOLDER] [-f PATH…] [--name SCOPE/NAME] [--host HOST] [-m WHY] [-y] [--timeout TIME]",
    "up --git URL[#REF] [FOLDER] [--name SCOPE/NAME] [--git-token KEY]",
  ],
  examples: [
    "up  what berth.yaml of this folder says",
    "up -y  without a question, for scripts",
    "up ./api  the app in a sub-folder",
    "up --git https://git.example.com/shop.git#main  a repository, without a copy of it here",
    "up --name shop/web --host shop.example.com  a folder without manifests",
  ],
  detail: [
    `Looks for ${placesInWords},`,
    "builds what has a build block, applies all of it, waits until it is ready, and prints the addresses.",
    "Like berth apply -f, with the same exit codes.",
    "A folder without any of them is deployed as berth init would write it: the web process of a Procfile",
    "gets the port and the domain, release runs before each new version, and each other process becomes a",
    "deployment. The name is that of the folder, unless --name says another.",
  ],
  flags: [
    ...applyCommand.flags,
    { name: "name", value: "SCOPE/NAME", summary: "the name of an app without manifests (default: FOLDER/web)" },
    {
      name: "pushed",
      value: "SCOPE[/NAME]",
      summary: "like git push: -y, --atomic, this scope alone, no file from outside",
    },
    { name: "host", value: "HOST", summary: "the domain of an app without manifests" },
    { name: "git", value: "URL[#REF]", summary: "deploy a git repository, which the server fetches over https" },
    { name: "git-token", value: "KEY", summary: "key of the app's config with a token for a private repository" },
    { name: "preview", value: "BRANCH", summary: "run it in a scope of its own, by the preview settings of its apps" },
  ],
  async run(around, given) {
    const git = given.value("git");
    if (git !== undefined) {
      const { set, args } = await upFromGit(around, given, git);
      return deploy(around, args, set);
    }
    return upFolder(around, given);
  },
};

/** Applies, waits, and prints where it is open. */
async function deploy(context: Context, args: Arguments, set: ManifestSet): Promise<number> {
  const code = await applySet(context, args, set);
  if (code !== exitCodes.done || context.json || args.on("dry-run")) return code;
  const ingresses = await ingressesOf(context, set);
  for (const address of await visitorAddresses(context, ingresses)) context.terminal.out(address);
  if (ingresses.length === 0) for (const way of set.manifests.flatMap(wayWithoutDomain)) context.terminal.note(way);
  return code;
}

/** How to open an app that has a port and no domain. */
function wayWithoutDomain({ kind, scope, name, spec }: Record<string, unknown>): string[] {
  const [port] = isFields(spec) && Array.isArray(spec.ports) ? (spec.ports as unknown[]) : [];
  const inside = /(\d+)(?:\/tcp)?$/.exec(String(port ?? ""))?.[1];
  if (inside === undefined || (kind !== "app" && kind !== "deployment")) return [];
  const app = printable(`${String(scope)}/${String(name)}`);
  const domain = kind === "app" ? "set host in its manifest" : "add an ingress";
  return [`${app} has no domain: ${domain}, or open it from here: berth port-forward ${app} ${inside}`];
}

async function upFolder(around: Context, args: Arguments): Promise<number> {
  const context = { ...around, cwd: folderOf(args, around) };
  const pushed = pushedOf(args);
  const branch = args.value("preview");
  const given = await manifestsHere(context, args, pushed).catch((error: unknown) => {
    if (pushed === undefined || branch === undefined || !isAboutSource(error)) throw error;
    return error;
  });
  if (given instanceof Error) return withoutPreview(context, pushed, given.message);
  if (pushed !== undefined) requireScope(given, pushed);
  const set = branch === undefined ? given : await previewSet(context, given, branch);
  if (set === undefined) return withoutPreview(context, pushed, "no app here has preview settings");
  return deploy(context, pushed === undefined ? args : pushedArguments(args, set), set);
}

/** The folder that is named, or the current one. A manifest is given with -f. */
function folderOf(args: Arguments, { cwd }: Context): string {
  const [word, ...more] = args.words;
  if (word === undefined) return cwd;
  noWords({ words: more }, "up takes one folder");
  const folder = resolve(cwd, word);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isFile()) throw usageFailure(`"${word}" is a file: files need -f`);
  if (found === undefined) throw usageFailure(`"${word}" is not a folder here`);
  return folder;
}

/** A push stores any branch; who asks for a preview gets one. */
function withoutPreview({ terminal }: Context, pushed: Pushed | undefined, why: string): number {
  if (pushed === undefined) throw new CommandFailure(`${why}: add spec.preview to one`);
  terminal.note(`not deployed: ${why}`);
  return exitCodes.done;
}

/** Faults in what was written, which may be half done on a branch. */
function isAboutSource(error: unknown): error is Error {
  return error instanceof ManifestError || (error instanceof CommandFailure && error.exitCode !== exitCodes.usage);
}

/** Those that -f names, else those of the folder, else what the source of the folder shows. */
async function manifestsHere(context: Context, args: Arguments, pushed: Pushed | undefined): Promise<ManifestSet> {
  const given = args.values("file");
  const [procfile, ...more] = given.filter((path) => /^Procfile(?:\.[\w-]+)?$/.test(basename(path)));
  if (procfile !== undefined) {
    if (more.length > 0 || given.length > 1) throw usageFailure("a Procfile is used by itself: -f Procfile");
    return fromSource(context, args, { procfile, pushed });
  }
  const found = given.length > 0 ? given : placeHere(context.cwd);
  if (found.length === 0) return fromSource(context, args, { procfile: "Procfile", pushed });
  for (const flag of ["name", "host"]) {
    if (args.value(flag) !== undefined) throw usageFailure(`--${flag}: ${found[0]} says it; change it there`);
  }
  return manifestsAt(found, args, context, pushed === undefined ? {} : { within: context.cwd });
}

interface From {
  procfile: string;
  pushed: Pushed | undefined;
}

async function fromSource(context: Context, args: Arguments, { procfile, pushed }: From): Promise<ManifestSet> {
  const root = resolve(context.cwd, dirname(procfile));
  const file = basename(procfile);
  const isGiven = args.values("file").length > 0;
  if (isGiven && !(existsSync(join(root, file)) && statSync(join(root, file)).isFile())) {
    throw usageFailure(`"${procfile}" does not exist`);
  }
  const { scope, name } = pushed ?? appIdentity(args.value("name") ?? `${scopeOfFolder(basename(root))}/web`);
  const host = appHost(args.value("host") ?? "") || undefined;
  const { text, found } = withoutManifest(root, { scope, name, host, procfile: file }, context.limits.folder);
  context.terminal.note(`no manifests here: ${scope}/${name} from ${found}; berth init writes them to a file`);
  const within = pushed === undefined ? undefined : context.cwd;
  return manifestsOfText(text, { name: "what berth init would write", directory: root, within }, context);
}

/** The stored ingresses of what was applied. */
async function ingressesOf(context: Context, { manifests }: ManifestSet) {
  const names = new Set(manifests.map(({ scope, name }) => `${String(scope)}/${String(name)}`));
  const stored = await context.api.call(listManifests, { query: { kind: "ingress" } });
  return stored.filter(({ scope, name }) => names.has(`${scope ?? ""}/${name}`));
}
