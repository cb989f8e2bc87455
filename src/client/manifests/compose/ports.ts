import { isFields } from "../../../base/pure/fields.ts";
import { isScalar, type Lose, splitOutside } from "./text.ts";

/** More ports in one range are no range that somebody meant. */
const rangeMax = 100;

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
  const outside = host === undefined || host === "" ? undefined : rangeOf(host);
  if (inside === undefined || (host !== undefined && host !== "" && outside?.length !== inside.length)) {
    lose(path, `this range of ports cannot be written out: left out`);
    return [];
  }
  if (outside === undefined) lose(path, "gets a free port on 127.0.0.1, not on all addresses");
  const end = protocol === undefined || protocol === "tcp" ? "" : `/${protocol}`;
  return inside.map((port, index) => {
    const address =
      ip === undefined || ip === "" ? "0.0.0.0" : ip.includes(":") && !ip.startsWith("[") ? `[${ip}]` : ip;
    return outside === undefined ? `${port}${end}` : `${address}:${outside[index]}:${port}${end}`;
  });
}

/** The ports of `80` or `80-85`; a text with variables is one port. */
function rangeOf(text: string): string[] | undefined {
  const [first = "", last] = splitOutside(text, "-");
  if (last === undefined) return [first];
  const [from, to] = [Number(first), Number(last)];
  if (!Number.isInteger(from) || !Number.isInteger(to) || to < from || to - from >= rangeMax) return undefined;
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}
