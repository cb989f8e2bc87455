import { isFields } from "../../../base/pure/fields.ts";
import { type Files, fromMachine, isSource, volumeFor } from "./machine-paths.ts";
import type { Lose } from "./lose.ts";
import { isScalar, splitOutside } from "./text.ts";
import { withDefaults } from "./variables.ts";

interface Mount {
  source: string | undefined;
  target: string;
  readOnly: boolean;
}

interface Mounting {
  /** Where the service has its mounts. */
  targets?: readonly string[];
  /** The name of the service, for the volumes that have none. */
  service: string;
  /** Folder that the image is built from. */
  context: string | undefined;
  files: Files;
  lose: Lose;
}

/** `volumes` of a service: `mounts` and, of memory, `tmpfs` as flags of docker. */
export function volumesOf(value: unknown, path: string, mounting: Mounting): { mounts: string[]; tmpfs: string[] } {
  const found = { mounts: [] as string[], tmpfs: [] as string[] };
  const list = Array.isArray(value) ? value : [value];
  const mounts = list.map((item, index) => {
    const at = `${path}[${index}]`;
    return isScalar(item) ? shortMount(String(item), at, mounting) : longMount(item, at, found.tmpfs, mounting);
  });
  // What the image has at these places was built from the same folder; a volume below it only keeps the folder away.
  const built = mounts.flatMap((mount) =>
    mount?.source !== undefined && isSource(mount.source, mounting.context) ? [mount.target] : [],
  );
  const targets = mounts.flatMap((mount) => (mount === undefined ? [] : [mount.target]));
  for (const [index, mount] of mounts.entries()) {
    if (mount === undefined) continue;
    if (mount.source === undefined && built.some((target) => mount.target.startsWith(`${target}/`))) continue;
    found.mounts.push(...mountTexts(mount, `${path}[${index}]`, found.tmpfs, { ...mounting, targets }));
  }
  return found;
}

/** Words that change nothing here; those of mounts inside of the mount matter to few. */
const knownModes = [
  ...["", "ro", "rw", "z", "Z", "cached", "delegated", "consistent", "nocopy", "U"],
  ...["private", "rprivate", "slave", "rslave", "shared", "rshared"],
];

function shortMount(text: string, path: string, { lose }: Mounting): Mount {
  const [source = "", target, mode = ""] = splitOutside(text, ":");
  if (target === undefined) return { source: undefined, target: source, readOnly: false };
  const words = withDefaults(mode).split(",");
  const other = words.filter((word) => !knownModes.includes(word));
  if (other.length > 0) lose(path, `the option "${other.join(",")}" has no counterpart`);
  return { source, target, readOnly: words.includes("ro") };
}

function longMount(item: unknown, path: string, tmpfs: string[], { lose }: Mounting): Mount | undefined {
  if (!isFields(item) || typeof item.target !== "string") {
    lose(path, "is not a volume: left out");
    return undefined;
  }
  const { type, source, target, read_only: readOnly, consistency: _, bind: __, volume, tmpfs: memory, ...more } = item;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  if (isFields(volume) && volume.subpath !== undefined) lose(`${path}.volume.subpath`, "has no counterpart");
  if (type === "tmpfs") {
    tmpfs.push(isFields(memory) && isScalar(memory.size) ? `${target}:size=${memory.size}` : target);
    return undefined;
  }
  const isText = typeof source === "string" && source !== "";
  if (type === "bind" && isText) {
    return { source: /^[./~\uE000]/.test(source) ? source : `./${source}`, target, readOnly: readOnly === true };
  }
  if (type === "volume") return { source: isText ? source : undefined, target, readOnly: readOnly === true };
  lose(path, `type ${String(type)} has no counterpart`);
  return undefined;
}

function mountTexts({ source, target, readOnly }: Mount, path: string, tmpfs: string[], mounting: Mounting): string[] {
  const { files, lose } = mounting;
  const mode = readOnly ? ":ro" : "";
  if (source === undefined) return [`${volumeFor(`${mounting.service}-${target}`, files)}:${target}`];
  const own = files.inside(source);
  // An unset variable can be in front of a path: `${DATA:-.}/db`.
  const plain = withDefaults(source);
  const machine = own ?? (/^[.~]/.test(plain) ? plain : source);
  if (/^[.~]/.test(machine)) {
    const { context, targets = [] } = mounting;
    return fromMachine({ source: machine, target, readOnly, context, targets, tmpfs }, path, files, lose);
  }
  if (!/^[a-zA-Z0-9]/.test(source)) return [`${source}:${target}${mode}`];
  const { [source]: declared } = files.volumes;
  const settings = isFields(declared) ? declared : {};
  const { external, name, driver, driver_opts: options, labels: _, ...more } = settings;
  for (const field of Object.keys(more)) lose(`volumes.${source}.${field}`, "has no counterpart");
  if (driver !== undefined && driver !== "local") lose(`volumes.${source}.driver`, foreignVolume);
  if (isFields(options) && Object.keys(options).length > 0) {
    const made = optionMount(options, { target, readOnly }, tmpfs);
    if (made === undefined) lose(`volumes.${source}.driver_opts`, foreignVolume);
    else if (made.source === undefined) return [];
    else return mountTexts({ target, readOnly, source: made.source }, path, tmpfs, mounting);
  }
  if (external === true || isFields(external)) {
    const named = isFields(external) && typeof external.name === "string" ? external.name : name;
    return [`${typeof named === "string" ? named : source}:${target}:${readOnly ? "ro," : ""}external`];
  }
  return [`${source}:${target}${mode}`];
}

const foreignVolume = "has no counterpart: make the volume with docker, and use it as external";

/** A volume that stands for a folder, or for memory; undefined where it is neither. */
function optionMount(
  options: Record<string, unknown>,
  { target }: { target: string; readOnly: boolean },
  tmpfs: string[],
) {
  const { type, o = "", device } = options;
  if (type === "tmpfs") {
    tmpfs.push(target);
    return { source: undefined };
  }
  const isBind =
    typeof device === "string" &&
    String(o)
      .split(",")
      .some((word) => word === "bind" || word === "rbind");
  return isBind ? { source: device } : undefined;
}
