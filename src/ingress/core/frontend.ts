import type { Setup } from "./change.ts";
import { argumentPath, certificateListPath, mapPath, pathWord } from "./layout.ts";
import { flags, httpsPort } from "./maps.ts";
import { bindAddress, proxyProtocolRules } from "./frontend-binds.ts";
import { innerLines, isOnDemand, onDemandSections } from "./on-demand.ts";
import { hasFlag, type Lines, networkRule, section } from "./rules.ts";
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

function webRules(web: Web): Lines {
  const { table, setup, scheme, opening } = web;
  const isBehindProxy = table.listen.trustedProxies.length > 0;
  return [
    ...opening,
    ...refusals,
    ...identityRules(setup),
    ...challengeRules(setup),
    ...clientRules(table.listen, scheme),
    ...routeRules(setup),
    ...redirectRules(web, isBehindProxy),
    ...hstsRules(setup, { scheme, isBehindProxy }),
    ...forwardedRules(isBehindProxy),
    "use_backend %[var(txn.be)]",
  ];
}

/** A tunnel to anywhere, framing that HTTP/1.0 does not have, lengths that overflow, and hosts that are none. */
const refusals = [
  "http-request deny deny_status 405 if METH_CONNECT",
  "http-request deny deny_status 400 if HTTP_1.0 { req.hdr(transfer-encoding) -m found }",
  "http-request deny deny_status 400 if { req.hdr(content-length) -m found } !{ req.hdr(content-length) -m reg ^[0-9]{1,18}$ }",
  String.raw`http-request deny deny_status 400 unless { req.hdr(host) -m reg '^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{0,5})?$' }`,
];

function identityRules({ headerPrefix }: Setup): Lines {
  return [
    "unique-id-format %[uuid()]",
    `http-request set-header ${headerPrefix}-Request-Id %[unique-id]`,
    `http-after-response set-header ${headerPrefix}-Request-Id %[unique-id]`,
  ];
}

/** Before everything else, so that a certificate is issued for a host whatever its site does. */
function challengeRules({ paths }: Setup): Lines {
  const answer = `path,field(4,/),map_str(${argumentPath(mapPath(paths, "challenges"))})`;
  return [
    `http-request return status 200 content-type text/plain lf-string %[${answer}] if { path_beg /.well-known/acme-challenge/ } { ${answer} -m found }`,
  ];
}

/** The client behind trusted proxies is the last address that is none of theirs. */
function clientRules(listen: Listen, scheme: "http" | "https"): Lines {
  const own = `http-request set-var(txn.proto) str(${scheme})`;
  if (listen.trustedProxies.length === 0) return [own];
  return [
    own,
    ...networkRule("trusted", listen.trustedProxies),
    "http-request set-var(txn.trusted) bool(true) if trusted",
    "http-request set-var(txn.proto) req.hdr(x-forwarded-proto,-1),lower if trusted { req.hdr(x-forwarded-proto,-1) -i http https }",
    ...[-1, -2, -3, -4].map((place) => `http-request set-src req.hdr_ip(x-forwarded-for,${place}) if trusted`),
  ];
}

function routeRules({ paths }: Setup): Lines {
  const lookup = `set-var(txn.route) var(txn.key),map_beg(${argumentPath(mapPath(paths, "routes"))})`;
  const missing = "!{ var(txn.route) -m found }";
  return [
    "http-request set-var(txn.host) req.hdr(host),field(1,:),lower,rtrim(.)",
    "http-request set-var-fmt(txn.key) %[var(txn.host)]%[path]/",
    `http-request ${lookup}`,
    // Wildcards of one label here, deeper ones in Lua.
    `http-request set-var-fmt(txn.key) *.%[var(txn.host),field(2,.,0)]%[path]/ if ${missing}`,
    `http-request ${lookup} if ${missing}`,
    `http-request lua.wildcard if ${missing}`,
    "http-request deny deny_status 404 unless { var(txn.route) -m found }",
    String.raw`http-request lua.two_ways if { path -m sub // /. % ; '\' }`,
    "http-request deny deny_status 400 if { var(txn.two_ways) -m found }",
    "http-request set-var(txn.be) var(txn.route),field(1,|)",
    "http-request set-var(txn.flags) var(txn.route),field(2,|)",
  ];
}

function redirectRules({ table, scheme }: Web, isBehindProxy: boolean): Lines {
  const port = httpsPort(table);
  if (port === undefined || (scheme === "https" && !isBehindProxy)) return [];
  return [
    `http-request lua.loop if ${hasFlag("redirect")} !{ var(txn.proto) -m str https } { req.hdr(x-forwarded-proto) -i https }`,
    `http-request redirect location https://%[var(txn.host)]${port}%[pathq] code 308 if ${hasFlag("redirect")} !{ var(txn.proto) -m str https }`,
  ];
}

function hstsRules({ paths }: Setup, at: { scheme: "http" | "https"; isBehindProxy: boolean }): Lines {
  if (at.scheme === "http" && !at.isBehindProxy) return [];
  const value = `var(txn.be),map_str(${argumentPath(mapPath(paths, "hsts"))})`;
  return [
    `http-after-response set-header strict-transport-security %[${value}] if { var(txn.flags) -m sub ${flags.hsts} } { var(txn.proto) -m str https }`,
  ];
}

const namesOurs = "req.hdr(connection) -m reg -i '^(x-|forwarded$|http2-settings$)'";

/** Replicas see one client address, the one that the proxy believes; nothing that a client wrote itself. */
function forwardedRules(isBehindProxy: boolean): Lines {
  const unlessKept = (header: string) =>
    isBehindProxy ? ` unless { var(txn.trusted) -m bool } { req.hdr(${header}) -m found }` : "";
  const forwarded = (client: string) => `'for="${client}";host="%[req.hdr(host)]";proto=%[var(txn.proto)]'`;
  const unlessTrusted = isBehindProxy ? " unless { var(txn.trusted) -m bool }" : "";
  return [
    // CGI and its relatives take X_Forwarded_For for X-Forwarded-For.
    "http-request del-header '^x(_forwarded[-_]|-forwarded(_|-.*_)|_real[-_]|-real_)' -m reg",
    `http-request del-header '^x-forwarded-' -m reg${unlessTrusted}`,
    // A replica that switches to HTTP/2 inside of the connection would take requests that no rule has seen.
    "http-request del-header upgrade if { req.hdr(upgrade) -m sub -i h2c }",
    "http-request del-header http2-settings",
    // Another proxy at the replica would take off what Connection names.
    `http-request set-header connection upgrade if { ${namesOurs} } { req.hdr(connection) -i upgrade }`,
    `http-request del-header connection if { ${namesOurs} }`,
    `http-request set-header x-forwarded-host %[req.hdr(host)]${unlessKept("x-forwarded-host")}`,
    `http-request set-header x-forwarded-port %[dst_port]${unlessKept("x-forwarded-port")}`,
    "http-request set-header x-forwarded-proto %[var(txn.proto)]",
    "http-request set-header x-forwarded-for %[src]",
    "http-request set-header x-real-ip %[src]",
    "http-request del-header x-forwarded-prefix",
    `http-request set-header forwarded ${forwarded("%[src]")} unless { src -m sub : }`,
    `http-request set-header forwarded ${forwarded("[%[src]]")} if { src -m sub : }`,
  ];
}
