import type { EffectiveSettings } from "../api/settings.ts";
import { redirectMiss } from "./redirect-miss.ts";
import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";

/** Longest address that a browser is sent back to; the token comes on top. */
const redirectLengthMax = 2_048;

export type RedirectRules = Pick<EffectiveSettings, "redirect_uris" | "redirect_query" | "delivery">;

/** Parameters of ours that a caller may not bring along: an app could take a stranger's token for ours. */
const reserved = ["token", "error"];
/** What apps put into their own address to know the browser again, and where it wanted to go. */
const knownKeys = ["state", "return_to"];

/**
 * The address to send a browser back to, when the instance allows it: scheme, host, port and path of a listed one
 * (RFC 9700 section 2.1); its query is kept as written, without parameters of ours. On a listed loopback address any
 * port is fine (RFC 8252 section 7.3). Everything else is refused: there is nowhere to send the browser then.
 */
export function checkRedirect(text: string, rules: RedirectRules): Parsed<string> {
  const problem = textProblem(text);
  if (problem !== undefined) return unreadable(problem);
  const url = new URL(text);
  const listed = rules.redirect_uris.filter((entry) => isSamePlace(url, entry));
  if (listed.length === 0) {
    const entries = rules.redirect_uris.filter((entry) => textProblem(entry) === undefined);
    return unreadable(
      redirectMiss(
        url,
        entries.map((entry) => new URL(entry)),
      ),
    );
  }
  const query = withoutReserved(queryOf(text), reservedKeys(rules));
  if (!listed.some((entry) => isQueryAllowed(query, queryOf(entry), rules.redirect_query))) {
    return unreadable(
      'redirect_uri carries query parameters that the instance does not allow; set redirect_query to "any"',
    );
  }
  return parsed(`${url.origin}${url.pathname}${query === "" ? "" : `?${asciiOnly(query)}`}`);
}

/** The same address with parameters of ours at the end of its query. */
export function withParameters(address: string, parameters: Record<string, string>): string {
  const added = new URLSearchParams(parameters).toString();
  const start = address.indexOf("?");
  if (start < 0) return `${address}?${added}`;
  const isOpen = start === address.length - 1 || address.endsWith("&");
  return isOpen ? `${address}${added}` : `${address}&${added}`;
}

/** Checked on the text itself: what parsers repair silently is how one address passes for another. */
function textProblem(text: string): string | undefined {
  if (text === "") return "redirect_uri is missing";
  if (text.length > redirectLengthMax) return `redirect_uri is longer than ${redirectLengthMax} characters`;
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return "redirect_uri has white space, control characters or backslashes";
  if (text.includes("#")) return "redirect_uri has a fragment";
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined || !URL.canParse(text)) return "redirect_uri is not an absolute http(s) address";
  if (authority.includes("@")) return "redirect_uri has a user name in it";
  const { protocol, hostname } = new URL(text);
  if (protocol === "http:" && !isLoopback(hostname)) return "redirect_uri must be https; http is for loopback only";
  return undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || isLoopbackAddress(hostname);
}

function isLoopbackAddress(hostname: string): boolean {
  return hostname === "127.0.0.1" || hostname === "[::1]";
}

function isSamePlace(url: URL, entry: string): boolean {
  if (textProblem(entry) !== undefined) return false;
  const listed = new URL(entry);
  if (url.protocol !== listed.protocol || url.hostname !== listed.hostname || url.pathname !== listed.pathname) {
    return false;
  }
  return url.port === listed.port || (url.protocol === "http:" && isLoopbackAddress(url.hostname));
}

function queryOf(text: string): string {
  const start = text.indexOf("?");
  return start < 0 ? "" : text.slice(start + 1);
}

function reservedKeys({ delivery }: RedirectRules): string[] {
  return delivery === "code" ? [...reserved, "code"] : reserved;
}

/** Pair by pair, so that the rest stays as the app wrote it. To some frameworks a semicolon parts pairs as well. */
function withoutReserved(query: string, keys: readonly string[]): string {
  if (query === "") return "";
  const isKept = (pair: string) => !keys.includes(baseKeyOf(pair));
  const kept = query.split("&").filter(isKept);
  return kept.map((pair) => pair.split(";").filter(isKept).join(";")).join("&");
}

/** `token[]` and `token[a]` are the same parameter to many frameworks, and some end a name at a NUL. */
function baseKeyOf(pair: string): string {
  return (keyOf(pair).split(/[[\u0000]/)[0] ?? "").trim().toLowerCase();
}

/** Other letters are written as browsers do: no header can hold them. */
function asciiOnly(query: string): string {
  return query.toWellFormed().replace(/[^\u0021-\u007e]+/gu, encodeURIComponent);
}

function keyOf(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? "";
}

function isQueryAllowed(query: string, listed: string, rule: RedirectRules["redirect_query"]): boolean {
  if (rule === "exact") return query === listed;
  if (rule === "any") return true;
  const rest = pairsOf(query);
  for (const pair of pairsOf(listed)) {
    const at = rest.indexOf(pair);
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return rest.every((pair) => knownKeys.includes(keyOf(pair)));
}

function pairsOf(query: string): string[] {
  return query.split("&").filter((pair) => pair !== "");
}
