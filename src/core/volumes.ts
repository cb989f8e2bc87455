import { type Parsed, parsed, unreadable } from "./parsed.ts";
import { placeholdersIn } from "./reference.ts";
import type { Mount } from "./workload.ts";

const form = 'write "/host/path:/path", "volume-name:/path" or add ":ro"';
const volumeNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,254}$/;

/**
 * `src:dst[:ro|rw]`. A source that starts with `/` is a host path, an asset reference becomes one later and is always
 * read-only, anything else names a volume.
 */
export function parseVolume(text: string): Parsed<Mount> {
  const parts = text.split(":");
  const [source = "", target = "", mode] = parts;
  if (parts.length < 2 || parts.length > 3) return unreadable(`"${text}" is not a volume; ${form}`);
  const targetFault = pathFault(target);
  if (targetFault !== undefined) return unreadable(`"${text}" mounts at "${target}", ${targetFault}`);
  if (mode !== undefined && mode !== "ro" && mode !== "rw") {
    return unreadable(`"${text}" has the mode "${mode}"; write "ro", "rw" or nothing`);
  }
  const readOnly = mode === "ro";
  if (source.includes("${")) return assetMount(text, { type: "bind", source, target, readOnly: true }, mode);
  if (source.startsWith("/")) {
    const fault = source === "/" ? undefined : pathFault(source);
    if (fault !== undefined) return unreadable(`"${text}" mounts the host path "${source}", ${fault}`);
    return parsed({ type: "bind", source, target, readOnly });
  }
  if (volumeNamePattern.test(source)) return parsed({ type: "volume", source, target, readOnly });
  return unreadable(`"${text}" has the source "${source}", neither an absolute path nor a volume name; ${form}`);
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
