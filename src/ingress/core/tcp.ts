import type { Setup } from "./change.ts";
import { balanceLines } from "./dedicated.ts";
import { bindAddress, proxyProtocolRules } from "./frontend-binds.ts";
import { argumentPath, certificateListPath, certificatePath, mapPath, pathWord } from "./layout.ts";
import { hostName, listenAddress, plainName, UnsafeText, wholeNumber } from "./quote.ts";
import { type Lines, networkRule, section } from "./rules.ts";
import type { Certificate, Table, TcpSite } from "./table.ts";

interface On {
  table: Table;
  setup: Setup;
  /** Site → its backend; needed where sites share a port. */
  backends?: Readonly<Record<string, string>>;
}

/** Both ends of a port of its own: the frontend that listens, and the backend with the replicas. */
export function tcpSections(site: TcpSite, backend: string, on: On): [string, string][] {
  const sharing = on.table.tcp.filter(({ listen, tlsName }) => listen === site.listen && tlsName !== undefined);
  if (site.tlsName !== undefined && sharing.length > 1) return sharedSections(site, backend, { ...on, sharing });
  const idle = idleTime(site);
  const frontend = section(`frontend in_${backend} from tcp`, [
    ...bindLines(site, tlsWords(site, on), on.table),
    ...accessRules(site, "session"),
    ...holdRules(site, backend, on.setup),
    `timeout client ${idle}`,
    `default_backend ${backend}`,
  ]);
  return [
    [`in_${backend}`, frontend],
    [backend, section(`backend ${backend} from tcp`, [...balanceLines(site.balance), `timeout server ${idle}`])],
  ];
}

/**
 * Several sites on one port. The name that a client asks for in its handshake chooses; without one that is known, there is
 * no handshake. The first of them brings the frontend.
 */
function sharedSections(site: TcpSite, backend: string, on: On & { sharing: TcpSite[] }): [string, string][] {
  const { table, setup, sharing, backends = {} } = on;
  const own = section(`backend ${backend} from tcp`, [
    ...balanceLines(site.balance),
    ...accessRules(site, "content"),
    ...holdRules(site, backend, setup),
    `timeout server ${idleTime(site)}`,
  ]);
  if (site !== sharing[0]) return [[backend, own]];
  const longest = sharing.reduce((most, one) => (one.idleMs > most.idleMs ? one : most), site);
  const routes = sharing.flatMap(({ id, tlsName = "" }) => {
    const name = hostName(tlsName, "host");
    const leadsTo = plainName(backends[id] ?? backend, "backend");
    return { name, line: `use_backend ${leadsTo} if { ssl_fc_sni ${nameWords(name)} }` };
  });
  // An exact name wins over a wildcard, and a longer wildcard over a shorter one.
  const rank = (name: string) => (name.startsWith("*") ? name.length : Number.POSITIVE_INFINITY);
  routes.sort((a, b) => (rank(a.name) === rank(b.name) ? 0 : rank(b.name) - rank(a.name)));
  const frontend = section(`frontend in_${backend} from tcp`, [
    ...bindLines(site, ` ssl crt-list ${pathWord(certificateListPath(setup.paths))} strict-sni`, table),
    `timeout client ${idleTime(longest)}`,
    ...routes.map(({ line }) => line),
  ]);
  return [
    [`in_${backend}`, frontend],
    [backend, own],
  ];
}

const nameWords = (name: string) => (name.startsWith("*") ? `-m end -i ${name.slice(1)}` : `-m str -i ${name}`);

const idleTime = ({ id, idleMs }: TcpSite) =>
  `${wholeNumber(Math.max(1, idleMs), 2 ** 31 - 1, `idle time of ${id}`)}ms`;

function bindLines({ listen }: TcpSite, words: string, table: Table): Lines {
  const all = table.tcp.map((one) => one.listen);
  return [`bind ${bindAddress(listen, all)}${words}`, ...proxyProtocolRules(table.listen)];
}

function accessRules({ allow, deny }: TcpSite, at: "session" | "content"): Lines {
  return [
    ...networkRule("denied", deny),
    ...(deny.length === 0 ? [] : [`tcp-request ${at} reject if denied`]),
    ...networkRule("allowed", allow),
    ...(allow.length === 0 ? [] : [`tcp-request ${at} reject unless allowed`]),
  ];
}

/** Lua may wait no longer than this: a little more than any hold. */
const inspectMs = 65_000;

/** Connections wait while their app is started, as requests do; what wakes it is called by the port. */
function holdRules({ listen }: TcpSite, backend: string, { paths }: Setup): Lines {
  const name = plainName(backend, "backend");
  return [
    `tcp-request inspect-delay ${inspectMs}ms`,
    `tcp-request content set-var(txn.be) str(${name})`,
    `tcp-request content set-var(txn.key) str(${listenAddress(listen, "port").replace(/^.*:/, ":")})`,
    `tcp-request content set-var(txn.hold) var(txn.be),map_str(${argumentPath(mapPath(paths, "hold"))}) if { nbsrv(${name}) eq 0 }`,
    "tcp-request content lua.hold if { var(txn.hold) -m found }",
  ];
}

function tlsWords(site: TcpSite, { table, setup }: On): string {
  if (site.tlsName === undefined) return "";
  const certificate = certificateFor(hostName(site.tlsName, "host"), table.certificates);
  if (certificate === undefined) throw new UnsafeText(`${site.id} waits for a certificate, so its port`, site.listen);
  return ` ssl crt ${pathWord(certificatePath(setup.paths, certificate.id))}`;
}

/** The one with the name itself, else the one with its wildcard. */
function certificateFor(name: string, certificates: readonly Certificate[]): Certificate | undefined {
  const wildcard = `*${name.slice(name.indexOf("."))}`;
  return (
    certificates.find(({ names }) => names.includes(name)) ?? certificates.find(({ names }) => names.includes(wildcard))
  );
}
