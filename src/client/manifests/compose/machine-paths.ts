import { posix } from "node:path";
import { keptFile, keptReference } from "../kept.ts";
import type { Lose } from "./lose.ts";
import { nameFrom } from "./text.ts";

/** What a path of the file stands for on the machine where the file is. */
export interface Machine {
  look(path: string): "file" | "folder" | "absent";
  /** The text of a file that can become part of an asset; undefined where it is none. */
  text(path: string): string | undefined;
  /** Whether a file is a program: its owner may run it. */
  runs(path: string): boolean;
  /** The files below a folder, as paths from it; undefined where it is too large for an asset. */
  filesIn(path: string): string[] | undefined;
  /** An absolute path below the folder of the Compose file, as a path from where the manifests are; else undefined. */
  inside(path: string): string | undefined;
}

export interface Files extends Machine {
  scope: string;
  /** The asset that files of the machine go to, filled on the way: key → mark of the file, or text. */
  asset: Record<string, string>;
  /** Permissions of these files, where they are not those of every file. */
  modes: Record<string, string>;
  assetName: string;
  /** Named volumes at the top of the file. */
  volumes: Record<string, unknown>;
  /** Volumes that stand for something without a name: what → name. */
  made: Map<string, string>;
}

interface LocalMount {
  source: string;
  target: string;
  readOnly: boolean;
  /** Folder that the image is built from. */
  context: string | undefined;
  /** Where the service has its other mounts. */
  targets: readonly string[];
  /** Places in memory, which hide what the image has there: filled on the way. */
  tmpfs: string[];
}

/** Whether a folder is, or holds, what an image is built from. */
export function isSource(folder: string, context: string | undefined): boolean {
  if (context === undefined || !/^\./.test(folder)) return false;
  const way = posix.relative(folder, context);
  return !way.startsWith("..") && !way.startsWith("/");
}

/**
 * A path beside the Compose file, which the server does not have. Files and small folders become part of an asset. What is
 * not there, or empty, is data that the app will write: a volume. The folder of a build is in its image.
 */
export function fromMachine(mount: LocalMount, path: string, files: Files, lose: Lose): string[] {
  const { source, target, readOnly, context } = mount;
  const kind = files.look(source);
  if (kind === "file" || (kind === "absent" && isFileName(source))) return ofFile(mount, path, files, lose);
  if (source.startsWith("~")) return leftOut(`"${source}" is a folder of this machine`, path, lose);
  const below = kind === "folder" ? files.filesIn(source) : [];
  const inContext = context !== undefined && isSource(context, source);
  if (isSource(source, context) || (inContext && (below === undefined || below.some((name) => code.test(name))))) {
    lose(path, `"${source}" is part of what the image is built from: not mounted`, "note");
    return [];
  }
  const isInImage = inContext && posix.basename(source) === posix.basename(target);
  if (isInImage && below !== undefined && below.length > 0 && !readOnly) {
    lose(path, `"${source}" is a volume here: it starts with what the image has at that place`, "note");
    return [`${volumeFor(source, files)}:${target}`];
  }
  if (below === undefined) return leftOut(`"${source}" is a large folder of this machine`, path, lose);
  if (below.length === 0) return [`${volumeFor(source, files)}:${target}${readOnly ? ":ro" : ""}`];
  if (!readOnly && below.some((name) => /\.(?:db3?|sqlite\d?|rdb|aof|mdb)$/.test(name))) {
    lose(path, `"${source}" is a volume here, which starts empty: copy what the folder holds with "berth cp"`);
    return [`${volumeFor(source, files)}:${target}`];
  }
  return ofFolder(mount, path, files, { below, lose });
}

function leftOut(what: string, path: string, lose: Lose): string[] {
  lose(path, `${what}: copy it to the server and write its absolute path there; left out`);
  return [];
}

function ofFile(mount: LocalMount, path: string, files: Files, lose: Lose): string[] {
  const { source, target, readOnly } = mount;
  const kind = files.look(source);
  if (kind === "file" && !readOnly && isData(source, target) && files.text(source) === "")
    return writtenFile(mount, path, files, lose);
  if (kind === "absent") lose(path, `"${source}" does not exist: create it before berth apply`, "note");
  else if (!readOnly) lose(path, `"${source}" is part of an asset: the app can read it, and not change it`, "note");
  return [`${assetFile(source, files)}:${target}:ro`];
}

/** Its files become part of an asset. */
function ofFolder(
  { source, target, readOnly, targets, tmpfs }: LocalMount,
  path: string,
  files: Files,
  { below, lose }: { below: string[]; lose: Lose },
): string[] {
  const mounts = below.map((name) => {
    return `${assetFile(`${source.replace(/\/$/, "")}/${name}`, files)}:${posix.join(target, name)}:ro`;
  });
  if (!readOnly) lose(path, `"${source}" is part of an asset: the app can read its files, and not change them`, "note");
  if (targets.filter((other) => posix.join(other, ".") === posix.join(target, ".")).length > 1) return mounts;
  // As in Compose, only these files are there: the image's own, such as a default site, would count too.
  if (readOnly || settingsFolder.test(target)) {
    tmpfs.push(target);
    return mounts;
  }
  // What the app adds stays.
  return [`${volumeFor(source, files)}:${target}`, ...mounts];
}

/** Folders for settings and pages, into which no app writes. */
const settingsFolder =
  /^\/etc\/|\/docker-entrypoint[\w.-]*\.d(?:\/|$)|\/provisioning(?:\/|$)|\/conf\.d(?:\/|$)|^\/usr\/share\//;

/** An empty file is there for the app to write into: it is in a volume, where its folder is for data alone. */
function writtenFile(
  { source, target, targets }: Pick<LocalMount, "source" | "target" | "targets">,
  path: string,
  files: Files,
  lose: Lose,
): string[] {
  const folder = posix.dirname(target);
  if (!dataFolder.test(posix.basename(folder))) {
    lose(
      path,
      `"${source}" is empty, and the app cannot write it: let the app write it into a folder, and mount a volume there; left out`,
    );
    return [];
  }
  if (targets.some((other) => posix.join(other, ".") === folder)) return [];
  lose(path, `"${source}" is in a volume here, which is mounted at "${folder}"`, "note");
  return [`${volumeFor(source, files)}:${folder}`];
}

/** Whether it is a file that programs write, by its ending or its folder. */
function isData(source: string, target: string): boolean {
  return /\.(?:json|db|sqlite\d?|log|dat)$/.test(source) || dataFolder.test(posix.basename(posix.dirname(target)));
}

const dataFolder = /^(?:data|db|database|letsencrypt|acme|certs?|certificates|storage|state|logs?)$/;

/** Files of a program: a volume would keep old ones after a new build. */
const code = /\.(?:[cm]?[jt]sx?|py|rb|php|go|rs|java|kt|cs|exs?|vue|svelte|astro|html?|s?css|prisma|erb|twig|jinja2?)$/;

/** A name with an ending; that of a folder such as `conf.d` is none. */
function isFileName(path: string): boolean {
  return /\.(?!d$)[A-Za-z][A-Za-z0-9]{0,9}$/.test(posix.basename(path));
}

/** The reference to a file of the machine, which becomes part of the asset. */
export function assetFile(source: string, files: Files): string {
  return inAsset({ name: source, content: keptFile(source), mode: files.runs(source) ? "0755" : undefined }, files);
}

interface Content {
  name: string;
  content: string;
  mode?: string | undefined;
}

/** The reference to content in the asset, under a key of its own; the same content has the same key. */
export function inAsset({ name, content, mode }: Content, { asset, modes, scope, assetName }: Files): string {
  const plain = name
    .slice(name.lastIndexOf("/") + 1)
    .replaceAll(/[^A-Za-z0-9_]/g, "_")
    .replace(/^(?=\d)|^$/, "_");
  for (let count = 1; ; count += 1) {
    const key = count === 1 ? plain : `${plain}_${count}`;
    if (asset[key] !== undefined && (asset[key] !== content || modes[key] !== mode)) continue;
    asset[key] = content;
    if (mode !== undefined) modes[key] = mode;
    return keptReference(`asset.${scope}.${assetName}.${key}`);
  }
}

/** The volume for a thing without a name: a path beside the Compose file, or a place in a container. */
export function volumeFor(what: string, { made, volumes }: Files): string {
  const thing = what.startsWith(".") ? posix.normalize(what).replace(/\/$/, "") : what;
  const known = made.get(thing);
  if (known !== undefined) return known;
  const plain = nameFrom(thing.replaceAll(/[^A-Za-z0-9]+/g, "-"));
  const taken = [...made.values(), ...Object.keys(volumes)];
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? plain : `${plain.slice(0, 36)}-${count}`;
    if (taken.includes(name)) continue;
    made.set(thing, name);
    return name;
  }
}
