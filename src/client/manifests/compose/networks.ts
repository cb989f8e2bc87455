import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";

type Fields = Record<string, unknown>;

/** Says which services could not reach the internet: every container here can. */
export function tellInternal(services: Fields, networks: Fields, lose: Lose): void {
  const isInternal = (name: string) => isFields(networks[name]) && networks[name].internal === true;
  for (const [service, fields] of Object.entries(services)) {
    const joined = isFields(fields) ? namesOf(fields.networks) : [];
    if (joined.length > 0 && joined.every(isInternal))
      lose(
        `services.${service}.networks`,
        `"${service}" has only internal networks, and reaches the internet here`,
        "note",
      );
  }
}

function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return isFields(value) ? Object.keys(value) : [];
}
