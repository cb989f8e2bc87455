import { keptFile, keptReference } from "../kept.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { isScalar, type Lose, splitOutside } from "./text.ts";

/** What a path of the file stands for on the machine where the file is. */
export type LookAt = (path: string) => "file" | "folder" | "absent";

export interface Files {
  scope: string;
  /** The asset that files of the machine go to, filled on the way: key → mark of the file. */
  asset: Record<string, string>;
  assetName: string;
  lookAt: LookAt;
  /** Named volumes at the top of the file. */
  volumes: Record<string, unknown>;
}

interface Mount {
  source: string;
  target: string;
  readOnly: boolean;
}

/** `volumes` of a service: `mounts` and, of memory, `tmpfs` as paths. */
export function volumesOf(
  value: unknown,
  path: string,
  files: Files,
  lose: Lose,
): { mounts: string[]; tmpfs: string[] } {
  const found = { mounts: [] as string[], tmpfs: [] as string[] };
  const list = Array.isArray(value) ? value : [value];
  for (const [index, item] of list.entries()) {
    const at = `${path}[${index}]`;
    const mount = isScalar(item) ? shortMount(String(item), at, lose) : longMount(item, at, found.tmpfs, lose);
    const text = mount === undefined ? undefined : mountText(mount, at, files, lose);
    if (text !== undefined) found.mounts.push(text);
  }
  return found;
}

function shortMount(text: string, path: string, lose: Lose): Mount | undefined {
  const [source = "", target, mode = ""] = splitOutside(text, ":");
  if (target === undefined) {
    lose(path, "an anonymous volume has no counterpart: name it, or leave the data in the container");
    return undefined;
  }
  const words = mode.split(",");
  const other = words.filter((word) => !["", "ro", "rw", "z", "Z", "cached", "delegated", "consistent"].includes(word));
  if (other.length > 0) lose(path, `the option "${other.join(",")}" has no counterpart`);
  return { source, target, readOnly: words.includes("ro") };
}

function longMount(item: unknown, path: string, tmpfs: string[], lose: Lose): Mount | undefined {
  if (!isFields(item) || typeof item.target !== "string") {
    lose(path, "is not a volume: left out");
    return undefined;
  }
  const { type, source, target, read_only: readOnly, consistency: _, ...more } = item;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  if (type === "tmpfs") {
    tmpfs.push(target);
    return undefined;
  }
  if ((type === "volume" || type === "bind") && typeof source === "string") {
    const isPath = /^[./~]/.test(source);
    return { source: type === "bind" && !isPath ? `./${source}` : source, target, readOnly: readOnly === true };
  }
  lose(
    path,
    type === "volume" ? "an anonymous volume has no counterpart: name it" : `type ${String(type)} has no counterpart`,
  );
  return undefined;
}

function mountText({ source, target, readOnly }: Mount, path: string, files: Files, lose: Lose): string | undefined {
  const mode = readOnly ? ":ro" : "";
  if (source.startsWith("/")) return `${source}:${target}${mode}`;
  if (/^[.~]/.test(source)) return fromMachine({ source, target, readOnly }, path, files, lose);
  const { [source]: declared } = files.volumes;
  const settings = isFields(declared) ? declared : {};
  const { external, name, driver, ...more } = settings;
  if (driver !== undefined && driver !== "local") more.driver = driver;
  for (const field of Object.keys(more))
    lose(`volumes.${source}.${field}`, "has no counterpart: make the volume with docker, and use it as external");
  if (external === true || typeof name === "string") {
    const own = typeof name === "string" ? name : source;
    return `${own}:${target}:${readOnly ? "ro," : ""}external`;
  }
  return `${source}:${target}${mode}`;
}

/** A path beside the file: one file becomes part of an asset, a folder is on the wrong machine. */
function fromMachine({ source, target, readOnly }: Mount, path: string, files: Files, lose: Lose): string | undefined {
  const kind = files.lookAt(source);
  if (kind !== "file") {
    const what = kind === "folder" ? "a folder of this machine" : "a path of this machine that does not exist";
    lose(path, `"${source}" is ${what}: copy it to the server and write its absolute path there; left out`);
    return undefined;
  }
  if (!readOnly) lose(path, `"${source}" is embedded into an asset, and read-only`);
  const key = keyFor(source, files.asset);
  files.asset[key] = keptFile(source);
  return `${keptReference(`asset.${files.scope}.${files.assetName}.${key}`)}:${target}:ro`;
}

/** A key of its own for each path; the same path has the same key. */
function keyFor(source: string, asset: Record<string, string>): string {
  const plain = source
    .slice(source.lastIndexOf("/") + 1)
    .replaceAll(/[^A-Za-z0-9_]/g, "_")
    .replace(/^(?=\d)|^$/, "_");
  for (let count = 1; ; count += 1) {
    const key = count === 1 ? plain : `${plain}_${count}`;
    if (asset[key] === undefined || asset[key] === keptFile(source)) return key;
  }
}
