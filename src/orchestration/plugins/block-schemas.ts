import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import { type BlockCheck, blockCheck, readBlockSchema } from "../core/plugins/block-schema.ts";
import { JsonError, parseJson } from "../../base/words/json.ts";
import type { Plugin } from "./plugin.ts";

/** The schemas that plugins publish for their blocks. */
export interface BlockSchemas {
  /** As published; undefined where the plugin has none for the kind. Fails `invalid` for a file that is none. */
  of(plugin: Plugin, kind: string): Promise<{ json: unknown; check: BlockCheck } | undefined>;
}

interface Kept {
  mark: string;
  json: unknown;
  check: BlockCheck;
}

const bytesMax = 1024 * 1024;
const depthMax = 64;
const keptMax = 200;

/** Reads schema files once, and again when they have changed. */
export function createBlockSchemas(): BlockSchemas {
  const kept = new Map<string, Kept>();
  const keep = (key: string, mark: string, json: unknown): Kept => {
    const { problems, ...read } = readBlockSchema(json);
    const [problem] = problems;
    if (problem !== undefined) {
      throw new Failure("invalid", `the schema of ${key} cannot be used: ${problem.path} ${problem.message}`);
    }
    if (kept.size >= keptMax) kept.clear();
    const entry = { mark, json, check: blockCheck(read) };
    kept.set(key, entry);
    return entry;
  };
  return {
    async of(plugin, kind) {
      const key = `"${kind}" in plugin "${plugin.yml.name}"`;
      const bundled = plugin.schemas?.[kind];
      const file = plugin.yml.schema?.[kind];
      if (bundled === undefined && file === undefined) return undefined;
      const path = file === undefined ? "" : join(plugin.folder, file);
      const mark = bundled === undefined ? await markOf(path, key) : "bundled";
      const before = kept.get(key);
      if (before?.mark === mark) return before;
      return keep(key, mark, bundled ?? (await readJson(path, key)));
    },
  };
}

async function markOf(path: string, key: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw new Failure("invalid", `the schema of ${key} is missing: no file "${path}"`);
  if (found.size > bytesMax) throw new Failure("invalid", `the schema of ${key} is larger than ${bytesMax} bytes`);
  return `${path} ${found.ino} ${found.mtimeMs} ${found.size}`;
}

async function readJson(path: string, key: string): Promise<unknown> {
  try {
    return parseJson(await readFile(path, "utf8"), { depthMax });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const place = `line ${error.line} column ${error.column}`;
    throw new Failure("invalid", `the schema of ${key} is not JSON: ${place}: ${error.message}`, { cause: error });
  }
}
