import { scopeOk } from "./identity.ts";
import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import { placeholdersIn } from "./placeholders.ts";
import type { Mount } from "./workload.ts";

const form = 'write "/host/path:/path", "volume-name:/path" or add ":ro"';
const volumeNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,254}$/;

/** An entry of `volumes` as written: the source of a volume is a name of the manifest, not yet one of the engine. */
export interface WrittenMount extends Mount {
  /** The engine's own volume of that name, whatever scope the manifest has. */
  external?: boolean;
}

/**
 * `src:dst[:ro|rw][,external]`. A source that starts with `/` is a host path, an asset reference becomes one later and
 * is always read-only, anything else names a volume: `name` of the own scope, `scope/name` of another one.
 */
export function parseVolume(text: string): Parsed<WrittenMount> {
  const parts = text.split(":");
  const [source = "", target = "", options] = parts;
  if (parts.length < 2 || parts.length > 3) return unreadable(`"${text}" is not a volume; ${form}`);
  const targetFault = pathFault(target);
  if (targetFault !== undefined) return unreadable(`"${text}" mounts at "${target}", ${targetFault}`);
  const { mode, external, unknown } = mountOptions(options);
  if (unknown !== undefined) {
    return unreadable(`"${text}" has the mode "${unknown}"; write "ro", "rw", "external" or nothing`);
  }
  const readOnly = mode === "ro";
  if (external && !volumeNamePattern.test(source)) {
    return unreadable(`"${text}" is external, and "${source}" is not the name of a volume; leave "external" out`);
  }
  if (source.includes("${")) return assetMount(text, { type: "bind", source, target, readOnly: true }, mode);
  if (source.startsWith("/")) {
    const fault = source === "/" ? undefined : pathFault(source);
    if (fault !== undefined) return unreadable(`"${text}" mounts the host path "${source}", ${fault}`);
    return parsed({ type: "bind", source, target, readOnly });
  }
  if (isVolumeName(source)) {
    return parsed({ type: "volume", source, target, readOnly, ...(external ? { external } : {}) });
  }
  return unreadable(`"${text}" has the source "${source}", neither an absolute path nor a volume name; ${form}`);
}

function isVolumeName(source: string): boolean {
  const [scope = "", name, ...more] = source.split("/");
  if (name === undefined) return volumeNamePattern.test(source);
  return more.length === 0 && scopeOk(scope) && volumeNamePattern.test(name);
}

function mountOptions(text: string | undefined): { mode?: string; external: boolean; unknown?: string } {
  const words = text?.split(",") ?? [];
  const modes = words.filter((word) => word !== "external");
  const [mode] = modes;
  const isUnknown = modes.length > 1 || (mode !== undefined && mode !== "ro" && mode !== "rw");
  return {
    external: words.includes("external"),
    ...(mode === undefined ? {} : { mode }),
    ...(isUnknown ? { unknown: modes.join(",") } : {}),
  };
}

/** What is wrong with an absolute path inside or outside a container; undefined when nothing is. */
export function pathFault(path: string): string | undefined {
  if (!path.startsWith("/")) return "which is not an absolute path";
  if (path === "/") return "which is the whole root folder";
  return path.split("/").includes("..") ? 'which climbs with ".."' : undefined;
}

/** One spelling per folder, so that two entries for the same one are seen as such. */
export function plainPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}`;
}

function assetMount(text: string, mount: Mount, mode: string | undefined): Parsed<Mount> {
  const [placeholder] = placeholdersIn(mount.source);
  if (placeholder?.type !== "asset" || placeholder.text !== mount.source) {
    return unreadable(`"${text}" has the source "${mount.source}", which is not one asset reference; ${form}`);
  }
  if (mode === "rw") return unreadable(`"${text}" asks to write to an asset; assets are read-only, leave ":rw" out`);
  return parsed(mount);
}
