import { isFields } from "../../../base/pure/fields.ts";
import { keptReference } from "../kept.ts";
import type { Lose } from "./lose.ts";
import { isScalar, splitOutside } from "./text.ts";
import { wholeVariable, withDefaults } from "./variables.ts";

/** A range with more ports was not meant. */
const rangeMax = 100;
const everywhere = "0.0.0.0";

/** Published ports. Compose publishes on all addresses where none is written, and so the address is written out. */
export function portsOf(value: unknown, path: string, lose: Lose): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((item, index) => {
    const at = `${path}[${index}]`;
    if (isScalar(item)) return shortPort(String(item), at, lose);
    if (isFields(item)) return longPort(item, at, lose);
    lose(at, "is not a port: left out");
    return [];
  });
}

function shortPort(text: string, path: string, lose: Lose): string[] {
  const whole = wholeVariable(text);
  if (whole?.fallback?.includes(":") === true) {
    const [port, ...more] = shortPort(whole.fallback, path, lose);
    return more.length > 0 || port === undefined ? [text] : [keptReference(`${whole.name}:-${port}`)];
  }
  const [address = "", protocol] = splitOutside(text, "/");
  const ipv6 = /^(\[[^\]]+\]):(.*)$/.exec(address);
  const parts = ipv6 === null ? splitOutside(address, ":") : [ipv6[1] ?? "", ...splitOutside(ipv6[2] ?? "", ":")];
  const container = parts.at(-1) ?? "";
  const host = parts.length > 1 ? parts.at(-2) : undefined;
  const ip = parts.length > 2 ? parts.slice(0, -2).join(":") : undefined;
  return spread({ ip, host, container, protocol }, path, lose);
}

function longPort(fields: Record<string, unknown>, path: string, lose: Lose): string[] {
  const { target, published, host_ip: ip, protocol, mode: _, name: __, app_protocol: ___, ...more } = fields;
  for (const field of Object.keys(more)) lose(`${path}.${field}`, "has no counterpart");
  const text = (part: unknown) => (isScalar(part) ? String(part) : undefined);
  const container = text(target);
  if (container !== undefined) {
    return spread({ ip: text(ip), host: text(published), container, protocol: text(protocol) }, path, lose);
  }
  lose(path, "has no target: left out");
  return [];
}

interface Port {
  ip: string | undefined;
  host: string | undefined;
  container: string;
  protocol: string | undefined;
}

/** One entry for each port of a range. */
function spread({ ip, host, container, protocol }: Port, path: string, lose: Lose): string[] {
  const inside = rangeOf(container);
  const isFree = host === undefined || isEmpty(host);
  const outside = isFree ? undefined : rangeOf(host);
  if (inside === undefined || (!isFree && (outside === undefined || outside.length < inside.length))) {
    lose(path, `this range of ports cannot be written out: left out`);
    return [];
  }
  const end = protocol === undefined || protocol === "tcp" ? "" : `/${protocol}`;
  return inside.map((port, index) => {
    if (outside === undefined) return `${port}${end}`;
    return `${bound(ip, outside[index] ?? "")}:${port}${end}`;
  });
}

/** A variable that is empty when it is not set: nothing is published at a port of its own. */
function isEmpty(host: string): boolean {
  return host === "" || wholeVariable(host)?.fallback === "";
}

/** The address and the port of the machine. A variable can hold the address too: `${BIND:-127.0.0.1:8080}`. */
function bound(ip: string | undefined, host: string): string {
  if (ip === undefined || ip === "") {
    const [, first = "", rest] = /^(\uE000[^\uE001]*\uE001)([\s\S]*)$/.exec(host) ?? [];
    const held = wholeVariable(first);
    if (held?.fallback?.includes(":") === true) return host;
    // `${BIND:-}8080`: the variable ends with a colon where it is set.
    if (held?.fallback === "" && rest !== "") return `${keptReference(`${held.name}:-${everywhere}:`)}${rest}`;
    return `${everywhere}:${host}`;
  }
  const variable = wholeVariable(ip);
  if (variable?.fallback === "") return `${keptReference(`${variable.name}:-${everywhere}`)}:${host}`;
  return `${variable === undefined && ip.includes(":") && !ip.startsWith("[") ? `[${ip}]` : ip}:${host}`;
}

/** The ports of `80` or `80-85`. A variable is one port, and at an end of a range its default is. */
function rangeOf(text: string): string[] | undefined {
  const [first = "", last] = splitOutside(text, "-");
  if (last === undefined) return [first];
  const [from, to] = [Number(withDefaults(first)), Number(withDefaults(last))];
  if (!Number.isInteger(from) || !Number.isInteger(to) || to < from || to - from >= rangeMax) return undefined;
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}
