import { Failure } from "../base/wire/failure.ts";
import { isNetwork } from "../base/pure/ip.ts";
import { parseDuration } from "../base/pure/duration.ts";
import { isLoopbackHost } from "../identity/core/urls.ts";
import { type LogLevel, logLevels } from "../base/words/log.ts";

/** What flags and the environment may hold, read from their texts. Each fails `invalid` and says what to write. */

/** `host:port`, `[::1]:port` or `:port` (every interface). Fails `invalid`. */
export function parseAddress(text: string): { hostname: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3] ?? Number.NaN);
  if (match === null || port > 65_535) throw new Failure("invalid", `address "${text}" is not host:port`);
  return { hostname: match[1] ?? (match[2] || "0.0.0.0"), port };
}

/** A setting that can be turned off: `off` and `none`, as the list of settings shows it, are the same as empty. */
export function valueOrOff(text: string): string {
  return /^(?:off|none)$/i.test(text) ? "" : text;
}

/** Milliseconds of `15s`, or 0 for never. Fails `invalid` for anything else, and for less than a second. */
export function parseInterval(text: string): number {
  const ms = text !== "" && valueOrOff(text) === "" ? 0 : parseDuration(text);
  if (ms === 0 || (ms !== undefined && ms >= 1_000)) return ms;
  throw new Failure("invalid", `interval "${text}" is not a duration of at least a second such as 15s, or 0 for never`);
}

/** Networks and addresses separated by commas. Fails `invalid` for anything else. */
export function networksOf(name: string, text: string): string[] {
  const networks = text.split(",").flatMap((one) => one.trim() || []);
  const odd = networks.find((one) => !isNetwork(one));
  if (odd === undefined) return networks;
  throw new Failure("invalid", `${name}: "${odd}" is not an address or a network such as 10.0.0.0/8`);
}

export function releasesUrl(text: string): string {
  if (/^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new Failure("invalid", `plugin releases: "${text}" is not an address; write one like https://github.com`);
}

/** It becomes part of network, volume, label, header and variable names. */
export function prefixOf(text: string): string {
  if (/^[a-z][a-z0-9-]{0,30}$/.test(text)) return text;
  throw new Failure(
    "invalid",
    `prefix "${text}" is not possible: use lower-case letters, digits and dashes, at most 31`,
  );
}

/** A word that is not understood must not open what guards the networks of the machine, nor be passed over. */
export function allowanceOf(name: string, text: string): boolean {
  if (/^(?:true|on|yes|1)$/i.test(text)) return true;
  if (/^(?:false|off|no|0|)$/i.test(text)) return false;
  throw new Failure("invalid", `${name}: "${text}" is not a boolean, write true or false (or on/off, yes/no)`);
}

/** Left out: where the service itself listens, as this machine reaches it. Fails `invalid` for http beyond loopback. */
export function baseUrlOf(text: string, identityAddr: string): string {
  if (text === "") return `http://127.0.0.1:${identityAddr === "" ? 8688 : parseAddress(identityAddr).port}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hint = "write https://HOST, or http://127.0.0.1:PORT on this machine";
  if (url === undefined || url.origin === "null")
    throw new Failure("invalid", `base url "${text}" is not a URL, ${hint}`);
  const plain = url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  if (!plain) throw new Failure("invalid", `base url "${text}" has more than a scheme, a host and a port, ${hint}`);
  const local = isLoopbackHost(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && local)) return url.origin;
  throw new Failure("invalid", `base url "${text}" is not https, ${hint}`);
}

export function logLevelOf(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (level === undefined) throw new Failure("invalid", `no log level "${text}": use ${logLevels.join(", ")}`);
  return level;
}

/** A port, 0 for any free one, or `off`. */
export function portOf(text: string): number | undefined {
  if (text === "off") return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Failure("invalid", `callback port "${text}" is not a port: use 1 to 65535, 0 for any free one, or off`);
}
