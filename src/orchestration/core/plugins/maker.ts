import { parseSource } from "./source.ts";

/** `unrecorded`: stored before makers were recorded. `unknown`: no plugin of that name was there when the server looked. */
type MakerOrigin = "bundled" | "release" | "git" | "folder" | "unrecorded" | "unknown";

/** The plugin that made a block. A plugin of the same name that comes from elsewhere is another plugin. */
export interface Maker {
  /** Its name. */
  plugin: string;
  origin: MakerOrigin;
  /** `owner/repo`, the address of a git repository or the path of a folder; empty for bundled and hand-made plugins. */
  source: string;
}

interface MakerPlugin {
  yml: { name: string };
  origin: "folder" | "installed" | "linked" | "bundled";
  folder: string;
  lock?: { source: string } | undefined;
}

/** A plugin as blocks remember it. Versions are left out: an update is the same plugin. */
export function makerOf({ yml: { name: plugin }, origin, folder, lock }: MakerPlugin): Maker {
  if (origin === "bundled") return { plugin, origin, source: "" };
  if (origin === "linked") return { plugin, origin: "folder", source: folder };
  return { plugin, ...originOfSource(origin === "installed" ? (lock?.source ?? "") : "") };
}

/** Where a plugin comes from that is installed from this text; spellings of one place are the same. */
export function originOfSource(text: string): Omit<Maker, "plugin"> {
  const source = parseSource(text);
  if (source?.type === "release") {
    return { origin: "release", source: `${source.owner}/${source.repo}`.toLowerCase() };
  }
  if (source?.type === "git") return { origin: "git", source: bareAddress(source.url) };
  return { origin: "folder", source: text.length > 1 ? text.replace(/\/+$/, "") : text };
}

/** Without credentials, which are replaced now and then, and must not be stored with every block. */
function bareAddress(url: string): string {
  const short = url.replace(/\/+$/, "").replace(/\.git$/, "");
  return short.replace(/^(https?|git):\/\/[^/@]*@/, "$1://");
}

/** Whether a plugin is the block's own. Every door asks this; nothing else compares plugins with blocks. */
export function isOwn(block: Maker, plugin: Maker): boolean {
  return block.plugin === plugin.plugin && block.origin === plugin.origin && block.source === plugin.source;
}

/** A maker in the words of a message: `the plugin "postgres" from acme/postgres`. */
export function makerText({ plugin, origin, source }: Maker): string {
  if (origin === "bundled") return `the bundled plugin "${plugin}"`;
  if (origin === "unknown" || origin === "unrecorded") return `a plugin "${plugin}" of unknown origin`;
  return source === ""
    ? `the plugin "${plugin}" that was put into the folder by hand`
    : `the plugin "${plugin}" from ${source}`;
}

/** How the operator gives a block its own plugin back; undefined where nothing is known of it. */
export function wayBack({ plugin, origin, source }: Maker): string | undefined {
  if (origin === "bundled") return `berth plugins remove ${plugin}`;
  if (source === "" || origin === "unknown" || origin === "unrecorded") return undefined;
  return `berth plugins install ${source} --replace`;
}
