import type { Problem } from "../../base/wire/failure.ts";
import { type EffectiveSettings, InstanceSettings } from "../api/settings.ts";
import { hostOk } from "../../base/pure/hosts.ts";
import { childPath } from "../../base/pure/path.ts";
import { schemaCheck } from "../../base/wire/schema-check.ts";
import { isLoopbackHost } from "./urls.ts";

/** Where anybody can have a mailbox. */
const domains = new Set(
  `gmail.com googlemail.com outlook.com outlook.de hotmail.com hotmail.co.uk hotmail.de hotmail.fr live.com live.de msn.com
  yahoo.com yahoo.de yahoo.fr yahoo.es yahoo.it yahoo.co.uk yahoo.co.jp yahoo.com.br ymail.com rocketmail.com icloud.com
  me.com mac.com aol.com aol.de proton.me protonmail.com protonmail.ch pm.me gmx.de gmx.net gmx.com gmx.at gmx.ch web.de
  t-online.de freenet.de posteo.de posteo.net mailbox.org zoho.com zohomail.eu yandex.ru yandex.com mail.ru mail.com
  inbox.ru bk.ru list.ru fastmail.com fastmail.fm hey.com tuta.com tuta.io tutanota.com tutanota.de qq.com 163.com 126.com
  naver.com daum.net orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it uol.com.br bol.com.br
  terra.com.br comcast.net verizon.net att.net sbcglobal.net cox.net btinternet.com sky.com bigpond.com rediffmail.com
  seznam.cz wp.pl o2.pl onet.pl interia.pl bluewin.ch hispeed.ch telenet.be ziggo.nl kpnmail.nl mailinator.com
  duck.com privaterelay.appleid.com users.noreply.github.com`.split(/\s+/),
);

/** Whether addresses at a domain, or below it, may belong to anybody. */
function isMailboxDomain(domain: string): boolean {
  const labels = domain.split(".");
  return labels.some((_, at) => domains.has(labels.slice(at).join(".")));
}

const check = schemaCheck(InstanceSettings);
const problemsMax = 20;
const redirectUrisMax = 100;
const headersMax = 8;

/** Settings after a change: null puts one back to its default. Problems have the name of their setting. */
export function changedSettings(
  present: InstanceSettings,
  change: Record<string, unknown>,
): { settings: InstanceSettings; problems: Problem[] } {
  const merged: Record<string, unknown> = { ...present, ...change };
  for (const [name, value] of Object.entries(change)) if (value === null) delete merged[name];
  const unknown = Object.keys(change).filter((name) => !Object.hasOwn(InstanceSettings.properties, name));
  const candidate: unknown = { ...merged, ...Object.fromEntries(unknown.map((name) => [name, change[name]])) };
  if (!check.matches(candidate)) return { settings: present, problems: check.problems(candidate, "", problemsMax) };
  // What an earlier version has taken stands until it is changed.
  const isChanged = ({ path }: Problem) => Object.keys(change).some((name) => path.split(/[.[]/)[0] === name);
  return { settings: candidate, problems: settingProblems(candidate).filter(isChanged) };
}

/** What the schema cannot say. */
function settingProblems(settings: InstanceSettings): Problem[] {
  const problems: Problem[] = [];
  const report = (path: string, message: string | undefined) => {
    if (message !== undefined) problems.push({ path, message });
  };
  const uris = settings.redirect_uris ?? [];
  if (uris.length > redirectUrisMax) report("redirect_uris", `has more than ${redirectUrisMax} entries`);
  for (const [index, uri] of uris.entries()) report(childPath("redirect_uris", index), redirectUriProblem(uri));
  if (settings.logo_url) report("logo_url", httpsProblem(settings.logo_url));
  for (const [name, pattern, hint] of patterns) {
    const text = settings[name];
    if (typeof text === "string" && !pattern.test(text)) report(name, hint);
  }
  const domain = settings.placeholder_domain;
  if (domain !== undefined && (!hostOk(domain) || !domain.includes("."))) {
    report("placeholder_domain", "is not a domain in lower case, such as users.noreply.invalid");
  } else if (domain !== undefined && isMailboxDomain(domain)) {
    report(
      "placeholder_domain",
      `"${domain}" has mailboxes of real people: use a domain that gets no mail, such as users.noreply.invalid`,
    );
  }
  for (const name of ["secret_key_headers", "publishable_key_headers"] as const) {
    for (const problem of headerProblems(settings[name] ?? [])) report(name, problem);
  }
  return problems;
}

type TextSetting = Extract<
  keyof EffectiveSettings,
  "accent" | "jwt_issuer" | "session_id_prefix" | "refresh_token_prefix" | "title"
>;

const patterns: readonly [TextSetting, RegExp, string][] = [
  ["accent", /^(?:#[0-9a-fA-F]{6})?$/, "is not a colour such as #2f6fed"],
  ["title", /^[^\p{C}]{0,64}$/u, "has more than 64 characters, or some that do not print"],
  ["jwt_issuer", /^[\x21-\x7e]{1,256}$/, "is not 1 to 256 printable characters without blanks"],
  ["session_id_prefix", /^[A-Za-z][A-Za-z0-9_-]{0,31}$/, "is not letters, digits, _ and -, at most 32"],
  ["refresh_token_prefix", /^[A-Za-z][A-Za-z0-9_-]{0,31}$/, "is not letters, digits, _ and -, at most 32"],
];

const uriLengthMax = 2048;

/**
 * What is wrong with an address that browsers may be sent to (RFC 9700 section 2.1: compared exactly, so nothing in it
 * may have two readings): https, or http on this machine; no wildcard, user, fragment, backslash or blank.
 */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > uriLengthMax) return `is longer than ${uriLengthMax} characters`;
  if (/[\s\p{C}\\]/u.test(uri)) return "holds a blank, a backslash or a control character";
  if (!/^https?:\/\//.test(uri) || !URL.canParse(uri)) return 'is not an address such as "https://host/path"';
  const url = new URL(uri);
  if (uri.includes("#")) return "must have no fragment";
  if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?]*@/.test(uri)) return "must name no user";
  if (uri.includes("*")) return "must have no wildcard: addresses are compared as they are, so list every one";
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) return "must be https: http is for this machine alone";
  return undefined;
}

function httpsProblem(text: string): string | undefined {
  const fits = /^https:\/\/[^\s\\]+$/.test(text) && URL.canParse(text) && new URL(text).username === "";
  return fits ? undefined : "is not an https address";
}

/** Headers that carry something else: a key in them would be logged, cached or forwarded as that. */
const takenHeaders =
  /^(?:host|cookie|authorization|connection|date|origin|referer|user-agent|via|forwarded|accept|content|transfer|x-forwarded|proxy|sec)(?:-.*)?$/i;

function headerProblems(names: readonly string[]): string[] {
  if (names.length > headersMax) return [`has more than ${headersMax} entries`];
  return names.flatMap((name) => {
    if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/.test(name)) return [`"${name.slice(0, 80)}" is not a header name`];
    return takenHeaders.test(name) ? [`"${name}" has a meaning of its own: name another header`] : [];
  });
}
