import { createWriteStream, existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { sourceLimits } from "../../config/source-limits.ts";
import { clientLimits } from "../../config/config.ts";
import { Failure } from "../../base/wire/failure.ts";
import { holderOf, planBuilds } from "../../client/build/of-manifests.ts";
import { packFolder } from "../../client/build/pack.ts";
import type { PlannedBuild } from "../../client/build/plan.ts";
import { placeHere } from "../../client/build/place.ts";
import { withoutManifest } from "../../client/init/without-manifest.ts";
import { yamlOf } from "../../client/manifests/plain-yaml.ts";
import { type ManifestSet, readManifestFiles, readManifests, type ReadSetup } from "../../client/manifests/read.ts";
import type { Source, SourceBuild } from "../../orchestration/api/sources.ts";

interface App {
  scope: string;
  name: string;
  host: string | undefined;
}

type Planned = Omit<Source, "git" | "warnings">;

/**
 * What a folder of source makes: its manifests, or those that berth init would write, and the images that they need. The
 * packed folders are in `work`, each named by its digest. Nothing of the source is run.
 */
export async function planSource(root: string, app: App, work: string): Promise<Planned> {
  requireShortTexts(root, "");
  const setup: ReadSetup = {
    cwd: root,
    stdin: () => Promise.reject(new Failure("invalid", "source has no stdin")),
    variables: {},
    within: root,
    limits: clientLimits,
  };
  const [place] = placeHere(root);
  const { set, found, text } = place === undefined ? generated(root, app, setup) : await written(root, place, setup);
  const planned = await planBuilds(set, clientLimits.folder);
  const builds = planned.map((build) => buildOf(build, set));
  for (const build of planned) await pack(build, work);
  const secrets = new Set(planned.flatMap(({ folder }) => folder.secrets));
  return { found, text: text ?? textOf(set), builds, left_out: [...secrets].slice(0, secretsMax) };
}

const secretsMax = 100;

/** Files that are read whole, and what of them decides how an image is built. */
const texts =
  /^(?:Dockerfile.*|Procfile.*|\.(?:git|docker|berth)ignore|berth\..+|.+\.(?:json|toml|xml|ya?ml|hcl|voodu|vdu|vd|exs|txt)|go\.mod|Gemfile|\.[\w-]+-version|\.nvmrc|\.env.*)$/;
/** Below the root, those that say what is left out are read. */
const textsBelow = /^(?:\.gitignore|Dockerfile.*)$/;

/** Fails `too_large` where a file that would be read whole is not a text that a person wrote. */
function requireShortTexts(root: string, below: string): void {
  for (const item of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = join(below, item.name);
    if (item.isDirectory()) requireShortTexts(root, path);
    else if (item.isFile() && (below === "" ? texts : textsBelow).test(item.name)) {
      if (lstatSync(join(root, path)).size <= sourceLimits.textBytesMax || /lock/.test(item.name)) continue;
      throw new Failure("too_large", `${path} is larger than ${sourceLimits.textBytesMax} bytes`);
    }
  }
}

interface Read {
  set: ManifestSet;
  found: string;
  text: string | undefined;
}

function generated(root: string, app: App, setup: ReadSetup): Read {
  const { text, found } = withoutManifest(root, { ...app, procfile: "Procfile" }, clientLimits.folder);
  const file = { name: "what berth init would write", text, directory: root, format: "yaml" as const };
  // The text is what the server gets, without the dollar signs that protect others on a command line.
  return { set: readManifestFiles([file], setup), found, text: text.replaceAll("$$", () => "$") };
}

async function written(root: string, place: string, setup: ReadSetup): Promise<Read> {
  return { set: await readManifests([join(root, place)], setup), found: basename(place), text: undefined };
}

/** Without the ids: the text is for a person, who may change what is built. */
function textOf({ manifests }: ManifestSet): string {
  const plain = structuredClone(manifests);
  for (const manifest of plain) {
    const build = holderOf(manifest)?.build;
    if (typeof build === "object" && build !== null && "id" in build) delete build.id;
  }
  return yamlOf(plain);
}

function buildOf(planned: PlannedBuild, { manifests }: ManifestSet): SourceBuild {
  const { scope, name, id, digest, dockerfile, target, args, secrets, buildkit, folder } = planned;
  const index = manifests.findIndex((manifest) => {
    const build = holderOf(manifest)?.build;
    const isIts = typeof build === "object" && build !== null && "id" in build && build.id === id;
    return isIts && manifest.scope === scope && manifest.name === name;
  });
  const request = {
    context: digest,
    dockerfile,
    ...(target === undefined ? {} : { target }),
    args,
    ...(secrets.length === 0 ? {} : { config_secrets: secrets }),
    ...(buildkit ? { buildkit } : {}),
  };
  return { index, id, files: folder.entries.length, bytes: folder.bytes, request };
}

async function pack({ digest, folder }: PlannedBuild, work: string): Promise<void> {
  const path = packedPath(work, digest);
  if (!existsSync(path)) await pipeline(Readable.from(packFolder(folder)), createWriteStream(path, { mode: 0o600 }));
}

export function packedPath(work: string, digest: string): string {
  return join(work, `${digest}.tar.gz`);
}
