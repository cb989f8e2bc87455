import { readFile } from "node:fs/promises";
import { writeFiles } from "./files.ts";

/** An ingress that a plugin was called for with `apply`, and has not been called for with `remove` since. */
export interface HeldRoute {
  id: string;
  plugin: string;
  app: string;
}

/** Remembers over restarts what has to be removed once its ingress is gone. */
export interface HeldRoutes {
  read(): Promise<HeldRoute[]>;
  write(held: readonly HeldRoute[]): Promise<void>;
}

export function heldRoutesIn(path: string): HeldRoutes {
  return {
    async read() {
      const text = await readFile(path, "utf8").catch(() => "[]");
      try {
        const list: unknown = JSON.parse(text);
        return Array.isArray(list) ? list.filter(isHeld) : [];
      } catch {
        return [];
      }
    },
    write: (held) => writeFiles([{ path, content: `${JSON.stringify(held)}\n`, mode: 0o600 }]),
  };
}

function isHeld(one: unknown): one is HeldRoute {
  const { id, plugin, app } = Object(one);
  return [id, plugin, app].every((text) => typeof text === "string");
}
