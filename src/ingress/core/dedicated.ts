import { type Setup, errorPageBytesMax, errorPageStatuses } from "./change.ts";
import { pagePath, pathWord } from "./layout.ts";
import { formatWord, headerName, plainName, UnsafeText, wholeNumber, word } from "./quote.ts";
import { remembered } from "./remember.ts";
import { closingRules, hasFlag, retryAfter, type Lines, networkRule, openingRules, section } from "./rules.ts";
import type { Site, SiteOptions } from "./table.ts";

/** Whether a site fits into a spare backend. What else it has of options is in maps or on its servers. */
export const isCommon = remembered(({ options }: Site): boolean => {
  return (
    options.balance === "round_robin" &&
    options.isOwn !== true &&
    options.stickyCookie === undefined &&
    [options.requestHeaders, options.responseHeaders].every(({ set, remove }) => set.length + remove.length === 0) &&
    !options.compress &&
    options.basicAuth.length + options.allow.length + options.deny.length === 0 &&
    options.rateLimit === undefined &&
    options.limits.bodyBytes === undefined &&
    Object.keys(options.errorPages).length === 0
  );
});

/** The section of a site with options of its own, and its list of users. Changing it takes a load. */
export function dedicatedSection(site: Site, backend: string, setup: Setup): { users: string; backend: string } {
  const { options } = site;
  const pages = errorPageLines(site, backend, setup);
  const lines = [
    ...balanceLines(options.balance),
    ...(options.isOwn === true ? [`retries ${restartSeconds}`, unknownMethods] : []),
    ...pages,
    ...(options.limits.bodyBytes === undefined ? [] : ["filter lua.body-limit"]),
    ...(options.compress ? compression : []),
    ...accessRules(options, backend),
    ...maintenanceRule(site, backend, setup),
    ...openingRules(setup),
    ...bodyRules(options),
    ...stickyRules(options.stickyCookie),
    ...headerRules("http-request", options.requestHeaders),
    ...ownRules(options, setup),
    ...headerRules("http-response", options.responseHeaders),
    ...closingRules(setup, options.isOwn === true ? [repeatable] : []),
  ];
  const users = options.basicAuth.map(
    ({ user, hash }) => `user ${word(nonEmpty(user, "user"), "user")} password ${word(nonEmpty(hash, "hash"), "hash")}`,
  );
  return {
    users: users.length === 0 ? "" : section(`userlist users_${backend}`, users),
    backend: section(`backend ${backend} from base`, lines),
  };
}

/** `source` keeps its order when servers come and go; only then may they, without a load. */
export function balanceLines(balance: SiteOptions["balance"]): Lines {
  switch (balance) {
    case "round_robin":
      return ["balance roundrobin"];
    case "least_conn":
      return ["balance leastconn"];
    case "random":
      return ["balance random"];
    case "ip_hash":
      return ["balance source", "hash-type consistent"];
  }
}

/** So long a request waits for this server while it restarts: HAProxy tries a refused connection again every second. */
const restartSeconds = 10;

/**
 * What the identity service answers alike when it is asked once more: a server that stops may have closed the connection,
 * and an app takes an error of these for the end of its session.
 */
const repeatable = "{ path -m reg ^(/i/[^/]+)?/api/v1/sessions/(exchange|refresh)$ }";

/** The runtime's HTTP server closes a connection with a method that it does not know, without an answer. */
const unknownMethods = "http-request deny deny_status 501 unless { method GET HEAD POST PUT PATCH DELETE OPTIONS }";

function ownRules({ isOwn }: SiteOptions, { ownHeader }: Setup): Lines {
  if (isOwn !== true || ownHeader === undefined) return [];
  const { name, value } = ownHeader;
  return [`http-request set-header ${headerName(name, "header")} ${word(value, "word of the ingress")}`];
}

const compression = [
  "filter compression",
  "compression algo gzip",
  "compression type text/html text/plain text/css text/csv text/xml text/javascript application/javascript application/json application/xml application/manifest+json application/wasm image/svg+xml",
];

/** Pages of the site in place of those of the proxy: [status, HTML]. */
export function ownPages({ id, options }: Site): [status: number, html: string][] {
  return errorPageStatuses.flatMap((status) => {
    const html = options.errorPages[status];
    if (html === undefined) return [];
    if (html === "" || new TextEncoder().encode(html).length > errorPageBytesMax)
      throw new UnsafeText(`error page ${status} of ${id}, which may have 1 to ${errorPageBytesMax} bytes`, html);
    return [[status, html] satisfies [number, string]];
  });
}

const pageWords = (setup: Setup, name: string) =>
  `content-type 'text/html; charset=utf-8' file ${pathWord(pagePath(setup.paths, name))}`;

function errorPageLines(site: Site, backend: string, setup: Setup): Lines {
  return ownPages(site).map(
    ([status]) => `http-error status ${status} ${pageWords(setup, `${backend}-${status}`)}${retryAfter(status)}`,
  );
}

/** The page of maintenance is the site's own page for 503, when it has one. */
function maintenanceRule(site: Site, backend: string, setup: Setup): Lines {
  if (site.options.errorPages[503] === undefined) return [];
  const page = pageWords(setup, `${backend}-503`);
  return [
    `http-request return status 503 ${page} hdr retry-after 60 hdr cache-control no-store if ${hasFlag("maintenance")}`,
  ];
}

function accessRules({ allow, deny, rateLimit, basicAuth }: SiteOptions, backend: string): Lines {
  return [
    ...networkRule("denied", deny),
    ...(deny.length === 0 ? [] : ["http-request deny deny_status 403 if denied"]),
    ...networkRule("allowed", allow),
    ...(allow.length === 0 ? [] : ["http-request deny deny_status 403 unless allowed"]),
    ...(rateLimit === undefined ? [] : rateRules(rateLimit)),
    ...(basicAuth.length === 0 ? [] : [`http-request auth realm restricted unless { http_auth(users_${backend}) }`]),
  ];
}

/** A client of IPv6 is its /64: a single machine owns that many addresses. */
function rateRules({ requests, periodMs }: { requests: number; periodMs: number }): Lines {
  const period = `${wholeNumber(Math.max(1, periodMs), 86_400_000, "period of the rate limit")}ms`;
  return [
    `stick-table type ipv6 size 100k expire ${period} store http_req_rate(${period})`,
    "http-request track-sc0 src,ipmask(32,64)",
    `http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${wholeNumber(requests, 1_000_000_000, "rate limit")} }`,
  ];
}

function bodyRules({ limits: { bodyBytes } }: SiteOptions): Lines {
  if (bodyBytes === undefined) return [];
  const max = wholeNumber(bodyBytes, Number.MAX_SAFE_INTEGER, "largest body");
  return [
    `http-request deny deny_status 413 if { req.body_size gt ${max} }`,
    `http-request set-var(txn.body_max) str(${max}) unless { req.hdr(content-length) -m found }`,
  ];
}

/** The cookie names the server. One that is gone or leaving is passed over, and the client gets the next one. */
function stickyRules(cookie: string | undefined): Lines {
  if (cookie === undefined) return [];
  const name = plainName(cookie, "name of the cookie");
  const attributes = "; Path=/; HttpOnly; SameSite=Lax";
  const isBound = "{ srv_name,strcmp(txn.bound) eq 0 }";
  return [
    `http-request set-var(txn.bound) req.cook(${name})`,
    `use-server %[var(txn.bound)] if { var(txn.bound) -m found }`,
    `http-response add-header set-cookie '${name}=%s${attributes}' if !${isBound} !{ var(txn.proto) -m str https }`,
    `http-response add-header set-cookie '${name}=%s${attributes}; Secure' if !${isBound} { var(txn.proto) -m str https }`,
  ];
}

function headerRules(on: "http-request" | "http-response", changes: Site["options"]["requestHeaders"]): Lines {
  return [
    ...changes.remove.map((name) => `${on} del-header ${headerName(name, "header")}`),
    ...changes.set.map(
      ({ name, value }) => `${on} set-header ${headerName(name, "header")} ${formatWord(value, `header ${name}`)}`,
    ),
  ];
}

function nonEmpty(text: string, what: string): string {
  if (text === "") throw new UnsafeText(what, text);
  return text;
}
