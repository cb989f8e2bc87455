import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";
import { isScalar, pairsOf } from "./text.ts";

type Fields = Record<string, unknown>;

/**
 * Flags of docker with which a container finds the other services by their names alone. The names are looked up below the
 * scope, whose names no other machine has; `ndots` makes every resolver use the search list for a name without a dot.
 */
export function searchOptions(fields: Fields, domain: string): string[] {
  const { network_mode: mode, dns_search: own, dns_opt: options } = fields;
  if (mode === "host" || mode === "none" || own !== undefined) return [];
  const dots = (Array.isArray(options) ? options : [options]).some((text) => String(text).startsWith("ndots:"));
  return [`--dns-search=${domain}`, ...(dots ? [] : ["--dns-option=ndots:1"])];
}

/** Other names that Compose gives a service: these lead nowhere here. Reported where a variable or command has one. */
export function tellOtherNames(services: Fields, lose: Lose): void {
  const names = Object.entries(services).flatMap(([service, fields]) => {
    return otherNames(fields).flatMap((name) => (Object.hasOwn(services, name) ? [] : [{ name, service }]));
  });
  for (const [service, fields] of Object.entries(services)) {
    if (!isFields(fields)) continue;
    for (const [path, value] of texts(fields, `services.${service}`)) {
      const found = names.find(({ name }) => isHost(name, value));
      if (found !== undefined) lose(path, `"${found.name}" is reached as "${found.service}" here: change it`);
    }
  }
}

/** A container name, and aliases in networks and links. */
function otherNames(fields: unknown): string[] {
  if (!isFields(fields)) return [];
  const { container_name: container, networks, links, hostname } = fields;
  const aliases = isFields(networks)
    ? Object.values(networks).flatMap((network) => (isFields(network) ? listOf(network.aliases) : []))
    : [];
  const linked = listOf(links).flatMap((link) => String(link).split(":").slice(1));
  return [container, hostname, ...aliases, ...linked].filter(
    (name) => typeof name === "string" && name !== "",
  ) as string[];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function texts(fields: Fields, path: string): [path: string, text: string][] {
  const { environment, command } = fields;
  const pairs = environment === undefined ? [] : pairsOf(environment, path, () => undefined);
  const words = listOf(command).filter(isScalar);
  return [
    ...pairs.flatMap(([key, value], index): [string, string][] => {
      const at = Array.isArray(environment) ? `[${index}]` : `.${key}`;
      return value === null ? [] : [[`${path}.environment${at}`, value]];
    }),
    ...words.map((word): [string, string] => [`${path}.command`, String(word)]),
  ];
}

/** Whether a value names it as a host with a port or in an address: `db:5432`, `postgres://user@db/x`. */
function isHost(name: string, value: string): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const start = "(?:^|//|@|,|=|:-)";
  return new RegExp(`${start}${escaped}:\\d`).test(value) || new RegExp(`(?://|@)${escaped}(?=/|,|$|:)`).test(value);
}
