import { pluginNamePattern } from "../api/plugins/plugin-yml.ts";

const pattern = new RegExp(pluginNamePattern);

export const pluginNameForm = "lower-case letters, digits, - and _, at most 63, the first a letter or a digit";

/** Whether a text may be the name or alias of a plugin. Nothing else ever becomes part of a path. */
export function isPluginName(text: string): boolean {
  return pattern.test(text);
}

/** Whether a text may be the name of a command: colons and dots are fine (`backups:capture`), a path is not. */
export function isCommandName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_:.-]{0,62}$/.test(text);
}

/** Whether a path, written with `/`, stays below the folder that it starts from. */
export function isInside(path: string): boolean {
  if (path === "" || path.startsWith("/") || /[\0\\]/.test(path)) return false;
  return path.split("/").every((part) => part !== "..");
}
