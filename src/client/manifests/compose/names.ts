import { isFields } from "../../../base/pure/fields.ts";
import { isHostLabel } from "../../../base/pure/hosts.ts";
import type { Lose } from "./lose.ts";
import { isScalar, pairsOf, splitOutside } from "./text.ts";
import { hasOpenVariable, withDefaults } from "./variables.ts";

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

/** A name that Compose gives a service beside its own. */
interface OtherName {
  name: string;
  service: string;
}

/** Flags with which the other services find it by the names that Compose gives it beside its own. */
export function aliasOptions(service: string, names: readonly OtherName[], { network_mode: mode }: Fields): string[] {
  if (mode === "host" || mode === "none") return [];
  const own = names.filter((one) => one.service === service && isLabel(one.name));
  return own.map(({ name }) => `--network-alias=${name}`);
}

/** Whether the name is found below the scope. A variable without a value counts as found, as most names are. */
function isLabel(name: string): boolean {
  return hasOpenVariable(name) || isHostLabel(withDefaults(name));
}

interface Telling {
  services: Fields;
  names: readonly OtherName[];
  /** What services mount: file and text. */
  files: readonly [path: string, text: string][];
  lose: Lose;
}

/** Names with a dot are not looked up below the scope: these lead nowhere here. Reported where a variable, command or file has one. */
export function tellOtherNames({ services, names, files, lose }: Telling): void {
  const lost = names.filter(({ name, service }) => {
    const { [service]: fields } = services;
    return isFields(fields) && !aliasOptions(service, names, fields).includes(`--network-alias=${name}`);
  });
  for (const [service, fields] of Object.entries(services)) {
    if (!isFields(fields)) continue;
    for (const [path, value, isName] of texts(fields, `services.${service}`)) {
      const found = lost.find(({ name }) => isHost(name, value) || (isName && name === value));
      if (found !== undefined) lose(path, `"${found.name}" is reached as "${found.service}" here: change it`);
    }
  }
  for (const { name, service } of lost) {
    for (const [file, text] of files) {
      if (hasName(name, text))
        lose(`services.${service}`, `"${name}" is reached as "${service}" here: change it in "${file}"`);
    }
  }
}

/** Whether a text has it as a whole word. */
export function hasName(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = text.charAt(at - 1) + text.charAt(at + name.length);
    if (!/[\w.-]/.test(around)) return true;
  }
  return false;
}

/** Container names, and aliases in networks and links; without those that are services themselves. */
export function otherNames(services: Fields): OtherName[] {
  const found = Object.entries(services).flatMap(([service, fields]): OtherName[] => {
    if (!isFields(fields)) return [];
    const { container_name: container, networks, links, hostname } = fields;
    const aliases = isFields(networks)
      ? Object.values(networks).flatMap((network) => (isFields(network) ? listOf(network.aliases) : []))
      : [];
    const own = [container, hostname, ...aliases].map((name) => ({ name: String(name ?? ""), service }));
    const linked = listOf(links).map((link) => {
      const [target = "", name = ""] = splitOutside(String(link), ":");
      return { name, service: target };
    });
    return [...own, ...linked];
  });
  const others = found.filter(
    ({ name, service }) =>
      (withDefaults(name) !== "" || hasOpenVariable(name)) &&
      !Object.hasOwn(services, withDefaults(name)) &&
      isFields(services[service]),
  );
  return [...new Map(others.map((one) => [`${one.service} ${one.name}`, one])).values()];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function texts(fields: Fields, path: string): [path: string, text: string, isName: boolean][] {
  const { environment, command } = fields;
  const pairs = environment === undefined ? [] : pairsOf(environment, path, () => undefined);
  const words = listOf(command).filter(isScalar);
  return [
    ...pairs.flatMap(([key, value], index): [string, string, boolean][] => {
      const at = Array.isArray(environment) ? `[${index}]` : `.${key}`;
      return value === null ? [] : [[`${path}.environment${at}`, value, hostKey.test(key)]];
    }),
    ...words.map((word): [string, string, boolean] => [`${path}.command`, String(word), false]),
  ];
}

/** Variables whose whole value is a host: `DB_HOST`. */
const hostKey = /(?:^|_)(?:host|hostname|server|addr|address)$/i;

/** Whether a value names it as a host with a port or in an address: `db:5432`, `postgres://user@db/x`. */
function isHost(name: string, value: string): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const start = "(?:^|//|@|,|=|:-)";
  return new RegExp(`${start}${escaped}:\\d`).test(value) || new RegExp(`(?://|@)${escaped}(?=/|,|$|:)`).test(value);
}

/** Whether a setting of a service has one of these names. */
export function namesOne(names: readonly string[], { environment, command, entrypoint, healthcheck }: Fields): boolean {
  const words = JSON.stringify([environment, command, entrypoint, healthcheck]).split(/[^\w.-]+/);
  return words.some((word) => names.includes(word));
}
