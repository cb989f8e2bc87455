import type { Setup } from "./change.ts";
import { argumentPath, certificateListPath, mapPath, pagePath, pathWord } from "./layout.ts";
import { httpsPort } from "./maps.ts";
import { bindAddress, proxyProtocolRules } from "./frontend-binds.ts";
import { innerLines, isOnDemand, onDemandSections } from "./on-demand.ts";
import { tooManyHeaders } from "./pages.ts";
import { hasFlag, type Lines, networkRule, routeBackend, section } from "./rules.ts";
import type { Listen, Table } from "./table.ts";

/** The sections where requests come in: plain HTTP and TLS. */
export function webSections(table: Table, setup: Setup): string[] {
  const { http, https } = table.listen;
  const tls = `ssl crt-list ${pathWord(certificateListPath(setup.paths))} strict-sni alpn h2,http/1.1`;
  const plainOpening = [...bindLines(http, ""), ...proxyProtocolRules(table.listen)];
  const tlsOpening = isOnDemand(table, setup)
    ? innerLines(setup, tls)
    : [...bindLines(https, ` ${tls}`), ...proxyProtocolRules(table.listen)];
  return [
    ...(http.length === 0
      ? []
      : [section("frontend web from base", webRules({ table, setup, scheme: "http", opening: plainOpening }))]),
    ...onDemandSections(table, setup),
    ...(https.length === 0
      ? []
      : [section("frontend web_tls from base", webRules({ table, setup, scheme: "https", opening: tlsOpening }))]),
  ];
}

interface Web {
  table: Table;
  setup: Setup;
  scheme: "http" | "https";
  /** Where requests come from. */
  opening: Lines;
}

function bindLines(addresses: readonly string[], words: string): Lines {
  return addresses.map((one) => `bind ${bindAddress(one, addresses)}${words}`);
}

/**
 * What each request needs comes first. Then a request whose host and path lead to a site as they are written leaves the
 * rules: those below are for all others.
 */
function webRules(web: Web): Lines {
  const { table, setup, scheme, opening } = web;
  const isBehindProxy = table.listen.trustedProxies.length > 0;
  const redirects = redirectRules(web, isBehindProxy);
  return [
    ...opening,
    // With TLS there is nothing that the kernel could carry.
    ...(scheme === "http" && setup.splicesMax > 0 ? ["option splice-response"] : []),
    ...(isBehindProxy ? [] : addressVariables("tcp-request session", "sess")),
    ...refusals,
    ...identityRules(setup),
    headerCountRule(setup),
    ...clientRules(table.listen, scheme),
    ...(redirects.length === 0 ? [] : [`http-request set-var(txn.says_https) bool(true) if ${saysHttps}`]),
    ...(isBehindProxy ? forwardedRulesBehindProxy(setup) : forwardedRules(setup, scheme)),
    ...routeRules(setup, redirects),
    ...hstsRules(setup, { scheme, isBehindProxy }),
    `use_backend %[${routeBackend}]`,
  ];
}

/**
 * A tunnel to anywhere, methods that show a client's own headers to scripts of a page, framing that HTTP/1.0 does not
 * have, lengths that overflow, a host longer than a name of the DNS with a port (it is written twice into the head,
 * which has to hold it), and control characters in values. The last class is written so that it means the same to every
 * library for expressions that HAProxy may be built with.
 */
const refusals = [
  "http-request deny deny_status 405 if { method CONNECT TRACE TRACK }",
  "http-request deny deny_status 400 if { req.hdr(transfer-encoding) -m found } HTTP_1.0",
  "http-request deny deny_status 400 if { req.hdr(content-length) -m found } !{ req.hdr(content-length) -m reg ^[0-9]{1,18}$ }",
  "http-request deny deny_status 400 if { req.fhdr(host) -m len 262: }",
  String.raw`http-request deny deny_status 400 if { req.hdrs -m reg [^\t\n\r\ -\xff] }`,
];

/** More than any browser sends, and fewer than the proxy reads. */
const headersMax = 500;

function headerCountRule({ paths }: Setup): string {
  const page = `content-type 'text/html; charset=utf-8' lf-file ${pathWord(pagePath(paths, tooManyHeaders))}`;
  return `http-request return status ${tooManyHeaders} ${page} hdr cache-control no-store if { req.fhdr_cnt gt ${headersMax} }`;
}

const requestIdHeader = ({ headerPrefix }: Setup) => `${headerPrefix}-Request-Id`;
/** Expression for its name and for the names that CGI takes for it. */
const requestIdNames = (setup: Setup) => requestIdHeader(setup).toLowerCase().replaceAll("-", "[-_]");

/** One that the client sent is removed with the other headers that only the proxy may write. */
function identityRules(setup: Setup): Lines {
  return [
    "unique-id-format %[uuid()]",
    `unique-id-header ${requestIdHeader(setup)}`,
    `http-after-response set-header ${requestIdHeader(setup)} %[unique-id]`,
  ];
}

/** Before the rules of sites, so that a certificate is issued for a host whatever its site does. */
function challengeRules({ paths }: Setup): Lines {
  const answer = `path,field(4,/),map_str(${argumentPath(mapPath(paths, "challenges"))})`;
  return [
    `http-request return status 200 content-type text/plain lf-string %[${answer}] if { path_beg /.well-known/acme-challenge/ } { ${answer} -m found }`,
  ];
}

/**
 * The client behind trusted proxies is the last address that is none of theirs. A request without `txn.proto` is plain
 * HTTP.
 */
function clientRules(listen: Listen, scheme: "http" | "https"): Lines {
  const own = `http-request set-var(txn.proto) str(${scheme})`;
  if (listen.trustedProxies.length === 0) return scheme === "https" ? [own] : [];
  return [
    own,
    ...networkRule("trusted", listen.trustedProxies),
    "http-request set-var(txn.trusted) bool(true) if trusted",
    "http-request set-var(txn.proto) req.hdr(x-forwarded-proto,-1),lower if trusted { req.hdr(x-forwarded-proto,-1) -i http https }",
    ...[-1, -2, -3, -4].map((place) => `http-request set-src req.hdr_ip(x-forwarded-for,${place}) if trusted`),
  ];
}

/** Text of the client's address, and in the form of the header `Forwarded`. It is costly to write, and written once. */
function addressVariables(rule: "tcp-request session" | "http-request", scope: "sess" | "txn"): Lines {
  return [
    `${rule} set-var-fmt(${scope}.ip) %[src]`,
    `${rule} set-var-fmt(${scope}.for) '"%[var(${scope}.ip)]"' unless { var(${scope}.ip) -m sub : }`,
    `${rule} set-var-fmt(${scope}.for) '"[%[var(${scope}.ip)]]"' if { var(${scope}.ip) -m sub : }`,
  ];
}

/** Labels without an empty one, and perhaps the dot of the root behind them. */
const isHost = String.raw`{ req.fhdr(host) -m reg '^([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])(:[0-9]{0,5})?$' }`;
/** How a target begins that leads to a site. HAProxy finds no path in `a.test/x`, and an app may find one. */
const targetForms = "/ http:// https://";
/**
 * Paths that an app may read in another way than they are written: with a sign that is not printable, or is "%", ";" or
 * a backslash; with an empty segment, and with a dot at either end of one.
 */
const isAmbiguous = "{ path -m reg '[^]-~!-$&-:<-[]|/[/.]|[.](/|$)' }";

function routeRules(setup: Setup, redirects: Lines): Lines {
  const lookup = (key: string) =>
    `set-var(txn.route) var(txn.${key}),map_beg(${argumentPath(mapPath(setup.paths, "routes"))})`;
  const missing = "!{ var(txn.route) -m found }";
  const isRedirected = redirects.length === 0 ? "" : ` !${hasFlag("redirect")}`;
  return [
    "http-request set-var(txn.path) path",
    // Not with a format, which takes a host only up to its first NUL, so that what is behind it would not be seen.
    "http-request set-var(txn.key) req.fhdr(host),lower,concat(,txn.path,/)",
    `http-request ${lookup("key")}`,
    // A host without a slash that is found is the host of a site, so it needs no other check.
    `http-request allow if { var(txn.route) -m found } !{ req.fhdr(host) -m sub / * } !${isAmbiguous}${isRedirected} { url -m beg ${targetForms} }`,
    "http-request unset-var(txn.key)",
    "http-request unset-var(txn.route)",
    `http-request deny deny_status 400 unless { url -m beg -i ${targetForms} } or METH_OPTIONS { url -m str * }`,
    `http-request deny deny_status 400 unless ${isHost}`,
    // HTTP/1 has none of these in a path. HAProxy lets them through from HTTP/2.
    "http-request deny deny_status 400 if { path -m reg '[^!-~]' }",
    ...challengeRules(setup),
    "http-request set-var(txn.host) req.fhdr(host),field(1,:),lower,rtrim(.)",
    "http-request set-var-fmt(txn.key) %[var(txn.host)]%[path]/",
    `http-request ${lookup("key")}`,
    // Wildcards of one label here, deeper ones in Lua.
    `http-request set-var-fmt(txn.wildcard) *.%[var(txn.host),field(2,.,0)]%[path]/ if ${missing}`,
    `http-request ${lookup("wildcard")} if ${missing}`,
    `http-request lua.wildcard if ${missing}`,
    "http-request deny deny_status 404 unless { var(txn.route) -m found }",
    `http-request lua.two_ways if ${isAmbiguous}`,
    "http-request deny deny_status 400 if { var(txn.two_ways) -m found }",
    ...redirects,
  ];
}

const saysHttps = "{ req.hdr(x-forwarded-proto) -i https }";

function redirectRules({ table, scheme }: Web, isBehindProxy: boolean): Lines {
  const port = httpsPort(table);
  if (port === undefined || (scheme === "https" && !isBehindProxy)) return [];
  return [
    `http-request lua.loop if ${hasFlag("redirect")} !{ var(txn.proto) -m str https } { var(txn.says_https) -m bool }`,
    `http-request redirect location https://%[var(txn.host)]${port}%[pathq] code 308 if ${hasFlag("redirect")} !{ var(txn.proto) -m str https }`,
  ];
}

function hstsRules({ paths }: Setup, at: { scheme: "http" | "https"; isBehindProxy: boolean }): Lines {
  if (at.scheme === "http" && !at.isBehindProxy) return [];
  const value = `${routeBackend},map_str(${argumentPath(mapPath(paths, "hsts"))})`;
  const overTls = at.isBehindProxy ? " { var(txn.proto) -m str https }" : "";
  return [`http-after-response set-header strict-transport-security %[${value}] if ${hasFlag("hsts")}${overTls}`];
}

const namesOurs = "{ req.hdr(connection) -m reg -i '^(x-|forwarded$|http2-settings$)' }";

const connectionRules = [
  // A replica that switches to HTTP/2 inside of the connection would take requests that no rule has seen.
  "http-request del-header upgrade if { req.hdr(upgrade) -m sub -i h2c }",
  // Another proxy at the replica would take off what Connection names.
  `http-request set-header connection upgrade if { req.hdr(connection) -i upgrade } ${namesOurs}`,
  `http-request del-header connection if ${namesOurs}`,
];

/**
 * Replicas see one client address, the one that the proxy believes; nothing that a client wrote itself. CGI and its
 * relatives take X_Forwarded_For for X-Forwarded-For, and Proxy for the proxy that their own requests go through. All of
 * it is removed in one pass, so what follows only adds.
 */
function forwardedRules(setup: Setup, scheme: "http" | "https"): Lines {
  return [
    `http-request del-header '^(x([-_]forwarded[-_]|_real[-_]|-real_|-real-ip$)|forwarded$|http2-settings$|proxy$|${requestIdNames(setup)}$)' -m reg`,
    ...connectionRules,
    "http-request add-header x-forwarded-host %[req.fhdr(host)]",
    "http-request add-header x-forwarded-port %[dst_port]",
    `http-request add-header x-forwarded-proto ${scheme}`,
    "http-request add-header x-forwarded-for %[var(sess.ip)]",
    "http-request add-header x-real-ip %[var(sess.ip)]",
    `http-request add-header forwarded 'for=%[var(sess.for)];host="%[req.fhdr(host)]";proto=${scheme}'`,
  ];
}

/** Like `forwardedRules`, except that what a trusted proxy says of its client's request is kept. */
function forwardedRulesBehindProxy(setup: Setup): Lines {
  const unlessTrusted = "unless { var(txn.trusted) -m bool }";
  const unlessKept = (header: string) => `${unlessTrusted} { req.hdr(${header}) -m found }`;
  return [
    `http-request del-header '^(x(_forwarded[-_]|-forwarded(_|-.*_)|_real[-_]|-real_)|http2-settings$|proxy$|${requestIdNames(setup)}$)' -m reg`,
    `http-request del-header '^x-forwarded-' -m reg ${unlessTrusted}`,
    ...connectionRules,
    ...addressVariables("http-request", "txn"),
    `http-request set-header x-forwarded-host %[req.fhdr(host)] ${unlessKept("x-forwarded-host")}`,
    `http-request set-header x-forwarded-port %[dst_port] ${unlessKept("x-forwarded-port")}`,
    "http-request set-header x-forwarded-proto %[var(txn.proto)]",
    "http-request set-header x-forwarded-for %[var(txn.ip)]",
    "http-request set-header x-real-ip %[var(txn.ip)]",
    "http-request del-header x-forwarded-prefix",
    `http-request set-header forwarded 'for=%[var(txn.for)];host="%[req.fhdr(host)]";proto=%[var(txn.proto)]'`,
  ];
}
