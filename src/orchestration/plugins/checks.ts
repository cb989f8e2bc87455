import { stat } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { nameConflict, widened } from "../core/plugins/conflicts.ts";
import { variableFault } from "../core/plugins/own-environment.ts";
import { routesFault } from "../core/plugins/routes.ts";
import { fitsVersion } from "../core/plugins/plugin-yml.ts";
import { isVersionWord, parseSource, type PluginSource, sourceForm } from "../core/plugins/source.ts";
import { packageDigest } from "./lock.ts";
import { readPackage } from "./package.ts";
import { ChangedPackage, type ForBlocks, grantedBy, type InstallRequest, type Plugin } from "./plugin.ts";
import { unbuilt } from "./program.ts";
import type { Work } from "./work.ts";

/** An install, or an update as an install. */
export interface Wish extends InstallRequest {
  /** What was granted before and what the operator grants with it; more than that is refused. */
  granted?: Plugin["permissions"];
}

/** A package and what was asked for. */
interface Checked {
  wish: Wish;
  version: string | undefined;
  yml: PluginYml;
  /** What the source itself calls the version. */
  tag: string;
}

/** What the machine cannot hold, as a warning of an install. */
export function lackText(lack: string): string {
  return `this machine cannot hold all that plugins are held to: ${lack}`;
}

/** Fails `invalid` for what is not a source. */
export function sourceOf(text: string): PluginSource {
  const source = parseSource(text);
  if (source === undefined) throw new Failure("invalid", `"${text}" is not a source of a plugin: ${sourceForm}`);
  return source;
}

/** `latest` and nothing are the same. */
export function versionOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "" || text === "latest") return undefined;
  if (isVersionWord(text)) return text;
  throw new Failure("invalid", `"${text}" is not a version: write a tag such as 1.2.0`);
}

/** Everything that can be known before anything of the package is run. */
export async function check(work: Work, { wish, version, yml, tag }: Checked): Promise<void> {
  await checkNames(work, yml, wish);
  const wanted = version === undefined ? undefined : bareVersion(version);
  const isNumber = wanted !== undefined && /^\d/.test(wanted);
  if (sourceOf(wish.source).type === "local") requireFolderVersion(wish, yml);
  if (isNumber && yml.version !== "" && yml.version !== wanted) {
    throw new Failure(
      "invalid",
      `what is tagged ${version} calls itself ${yml.version} in its plugin.yml; not installed`,
    );
  }
  requireServer(work, yml);
  requireVariables(work, yml);
  const more = wish.granted === undefined ? [] : widened(wish.granted, grantedBy(yml));
  if (more.length > 0) {
    const shown = yml.version || tag || "the new version";
    const way = `to grant that: berth plugins update ${yml.name} --yes, or install it again`;
    throw new Failure("forbidden", `${shown} wants more than "${yml.name}" was granted: ${more.join(", ")}; ${way}`);
  }
}

/** A folder has no tags: what it calls itself is all that there is to compare with. Fails `invalid`. */
export function requireFolderVersion({ source, version: text }: Wish, { version: has }: PluginYml): void {
  const wanted = versionOf(text);
  if (wanted === undefined || has === wanted.replace(/^v(?=\d)/, "")) return;
  const says = has === "" ? "names no version" : `is version ${has}`;
  throw new Failure("invalid", `${source} ${says} in its plugin.yml, and ${wanted} was asked for; not installed`);
}

/** Fails `conflict` for words that another plugin answers to. The registry is as of now afterwards. */
export async function checkNames(
  work: Work,
  yml: PluginYml,
  { source, replace = false, forBlocks }: Wish,
): Promise<void> {
  await work.registry.refresh();
  if (forBlocks !== undefined) requireForBlocks(work, yml, { source, forBlocks });
  const conflict = nameConflict(yml, work.registry.list().plugins, { replace });
  if (conflict !== undefined) throw new Failure("conflict", conflict);
  const others = work.registry.list().plugins.map((plugin) => plugin.yml);
  const fault = routesFault(yml, others);
  if (fault !== undefined) throw new Failure("conflict", fault);
}

/** Blocks bring a plugin of their own kind, and none in the place of another one. */
function requireForBlocks(
  { registry }: Work,
  yml: PluginYml,
  { source, forBlocks }: { source: string; forBlocks: ForBlocks },
): void {
  const { kind, version, updates } = forBlocks;
  const { name } = yml;
  const present = registry.list().plugins.find((plugin) => plugin.yml.name === name);
  if (present !== undefined && present.origin !== "bundled" && name !== updates) {
    const from = present.lock?.source ? `is installed from ${present.lock.source}` : "is there already";
    throw new Failure("conflict", `"${source}" holds the plugin "${name}", which ${from}; nothing was changed`);
  }
  if (![name, ...yml.aliases, ...yml.kinds].includes(kind) || (updates !== undefined && name !== updates)) {
    const message = `"${source}" holds the plugin "${name}", which does not expand blocks of kind "${kind}"`;
    throw new Failure("invalid", message);
  }
  if (version === undefined || bareVersion(version) === bareVersion(yml.version)) return;
  throw new Failure("invalid", `"${source}" holds version "${yml.version}", not "${version}"`);
}

/** Without the letter that tags begin with. */
export function bareVersion(version: string): string {
  return version.replace(/^v(?=\d)/, "");
}

/** Fails `invalid` for variables of the server that no plugin gets. */
export function requireVariables({ envPrefix }: Work, { server_env = [] }: PluginYml): void {
  server_env.forEach((name, index) => {
    const fault = variableFault(name, envPrefix);
    if (fault !== undefined) throw new Failure("invalid", `plugin.yml server_env[${index}]: "${name}" ${fault}`);
  });
}

/** Fails `conflict` where this server lacks what a package requires. */
export function requireServer({ serverVersion, which }: Work, { name, requires = {} }: PluginYml): void {
  if (requires.version !== undefined && !fitsVersion(requires.version, serverVersion)) {
    throw new Failure(
      "conflict",
      `"${name}" requires a server of version ${requires.version}; this is ${serverVersion}`,
    );
  }
  const missing = (requires.programs ?? []).filter((program) => which(program) === null);
  if (missing.length > 0) {
    throw new Failure("conflict", `"${name}" requires programs that are not on this server: ${missing.join(", ")}`);
  }
}

/** At least one command has its program now: the release or the hook may have brought it. */
export async function requirePrograms(folder: string, name: string): Promise<void> {
  const { argv, yml } = await readPackage(folder, name);
  const programs = new Set([...argv.values()].map(([program = ""]) => program));
  for (const program of programs) if ((await stat(program).catch(() => undefined))?.isFile() === true) return;
  const wanted = yml.entrypoint ?? "bin/<command>";
  // The folder is a copy that is gone afterwards, so the build is described without it.
  const hint = [...programs].some((program) => unbuilt(program) !== undefined)
    ? `; it is written in Go, so build it where its source is: CGO_ENABLED=0 go build -o ${wanted} .`
    : "";
  throw new Failure(
    "invalid",
    `"${name}" has no program to run: neither the package nor its release holds ${wanted} for this machine${hint}`,
  );
}

/** Compares a package, copied and not yet run, with the one that was shown. Fails with `ChangedPackage`. */
export async function requireExpected({ limits }: Work, { wish, yml }: Checked, folder: string): Promise<void> {
  if (wish.expect === undefined) return;
  requireSame(wish, await packageDigest(folder, yml.name, limits));
}

/** Fails with `ChangedPackage`. */
export function requireSame({ source, expect }: Wish, digest: string): void {
  if (expect === undefined || expect === digest) return;
  throw new ChangedPackage(`what "${source}" holds now is not what was shown; nothing was changed, look at it again`);
}

/** A caller who has left does not want it any more. Fails `unavailable`. */
export function requireWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Failure("unavailable", "the install was interrupted; nothing was changed");
}
