import { isFields } from "../../../base/pure/fields.ts";
import { type Lose, pairsOf } from "./text.ts";

/** Tells of variables that hold the name of another service as a host: here it has its scope behind it. */
export function tellHosts(services: Record<string, unknown>, scope: string, lose: Lose): void {
  const names = Object.keys(services);
  for (const [service, fields] of Object.entries(services)) {
    if (!isFields(fields) || fields.environment === undefined) continue;
    const path = `services.${service}.environment`;
    const pairs = pairsOf(fields.environment, path, () => undefined);
    for (const [index, [key, value]] of pairs.entries()) {
      const host = value === null ? undefined : names.find((name) => isHost(name, value));
      if (host === undefined) continue;
      const at = Array.isArray(fields.environment) ? `${path}[${index}]` : `${path}.${key}`;
      lose(at, `"${host}" is reached as ${host.toLowerCase()}.${scope} here: correct ${key}`);
    }
  }
}

/** Whether a value names it as a host: `db`, `db:5432`, `postgres://user@db/x`. */
function isHost(name: string, value: string): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const url = new RegExp(`(?:^|//|@|,)${escaped}(?=:\\d|/|,|$)`);
  return value === name || (url.test(value) && /[:/@,]/.test(value));
}
