import { posix } from "node:path";
import { isFields } from "../../../base/pure/fields.ts";

type Fields = Record<string, unknown>;

/**
 * A Compose file whose relative paths start at `folder`, with paths that start where the manifests are read. Of a file in
 * that folder itself nothing changes.
 */
export function movedPaths(top: Fields, folder: string): Fields {
  const move = mover(folder);
  return {
    ...top,
    ...(isFields(top.services) ? { services: each(top.services, (fields) => movedService(fields, move)) } : {}),
    ...(isFields(top.secrets) ? { secrets: each(top.secrets, (fields) => movedFields(fields, ["file"], move)) } : {}),
    ...(isFields(top.configs) ? { configs: each(top.configs, (fields) => movedFields(fields, ["file"], move)) } : {}),
    ...(isFields(top.volumes) ? { volumes: each(top.volumes, (fields) => movedVolume(fields, move)) } : {}),
  };
}

/** Builds without a context have the folder of the project; known once all files are merged. */
export function withContexts(top: Fields, folder: string): Fields {
  if (!isFields(top.services)) return top;
  const services = each(top.services, (fields: Fields) => {
    return isFields(fields.build) ? { ...fields, build: { context: joined(folder, "."), ...fields.build } } : fields;
  });
  return { ...top, services };
}

type Move = (path: string) => string;

/** Compose knows the folder of the project as a variable that no shell has to set. */
const ownFolder = /^\$(?:PWD\b|\{PWD(?::?-[^}]*)?\})(?=\/|$)/;

function mover(folder: string): Move {
  return (written) => {
    const path = written.replace(ownFolder, ".");
    if (folder === "" || folder === ".") return path;
    const variable = /^(\$\{\w+:?-)(\.{1,2}(?:\/[^}]*)?)(\}[\s\S]*)$/.exec(path);
    if (variable !== null) return `${variable[1]}${joined(folder, variable[2] ?? "")}${variable[3]}`;
    return /^(?:[/~$]|[a-z+]+:\/\/|[\w.-]+@[\w.-]+:)/i.test(path) ? path : joined(folder, path);
  };
}

/** A path below a folder, with the dot by which a mount knows a path. */
function joined(folder: string, path: string): string {
  const full = posix.join(folder, path);
  if (full === "./") return ".";
  return full.startsWith(".") || full.startsWith("/") ? full : `./${full}`;
}

function movedService(fields: Fields, move: Move): Fields {
  const moved = { ...fields };
  if (typeof fields.build === "string") moved.build = move(fields.build);
  if (isFields(fields.build)) {
    moved.build = movedFields(fields.build, ["context"], move);
  }
  if (fields.env_file !== undefined) moved.env_file = movedList(fields.env_file, (item) => movedEnvFile(item, move));
  if (fields.volumes !== undefined) moved.volumes = movedList(fields.volumes, (item) => movedMount(item, move));
  return moved;
}

function movedList(value: unknown, moveItem: (item: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(moveItem) : moveItem(value);
}

function movedEnvFile(item: unknown, move: Move): unknown {
  return typeof item === "string" ? move(item) : movedFields(item, ["path"], move);
}

function movedMount(item: unknown, move: Move): unknown {
  if (isFields(item)) return item.type === "bind" ? movedFields(item, ["source"], move) : item;
  if (typeof item !== "string") return item;
  const [, source, rest] =
    /^(\$PWD[^:]*|\$\{PWD[^}]*\}[^:]*|\$\{\w+:?-\.[^}]*\}[^:]*|\.[^:]*)(:[\s\S]*)$/.exec(item) ?? [];
  return source === undefined ? item : move(source) + rest;
}

/** A volume that stands for a folder of the machine. */
function movedVolume(fields: unknown, move: Move): unknown {
  if (!isFields(fields) || !isFields(fields.driver_opts)) return fields;
  const { device } = fields.driver_opts;
  if (typeof device !== "string" || !(device.startsWith(".") || ownFolder.test(device))) return fields;
  return { ...fields, driver_opts: { ...fields.driver_opts, device: move(device) } };
}

function movedFields(value: unknown, names: readonly string[], move: Move): unknown {
  if (!isFields(value)) return value;
  const paths = names.flatMap((name) => {
    const path = value[name];
    return typeof path === "string" ? [[name, move(path)]] : [];
  });
  return { ...value, ...Object.fromEntries(paths) };
}

function each(map: Fields, change: (fields: never) => unknown): Fields {
  return Object.fromEntries(
    Object.entries(map).map(([name, fields]) => [name, isFields(fields) ? change(fields as never) : fields]),
  );
}
