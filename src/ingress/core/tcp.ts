import type { Setup } from "./change.ts";
import { balanceLines } from "./dedicated.ts";
import { bindAddress, proxyProtocolRules } from "./frontend-binds.ts";
import { argumentPath, certificatePath, mapPath, pathWord } from "./layout.ts";
import { listenAddress, plainName, UnsafeText, wholeNumber } from "./quote.ts";
import { networkRule, section } from "./rules.ts";
import type { Certificate, Table, TcpSite } from "./table.ts";

/** Both ends of a port of its own: the frontend that listens, and the backend with the replicas. */
export function tcpSections(site: TcpSite, backend: string, on: { table: Table; setup: Setup }): [string, string][] {
  const idle = `${wholeNumber(Math.max(1, site.idleMs), 2 ** 31 - 1, `idle time of ${site.id}`)}ms`;
  const all = on.table.tcp.map(({ listen }) => listen);
  const frontend = section(`frontend in_${backend} from tcp`, [
    `bind ${bindAddress(site.listen, all)}${tlsWords(site, on)}`,
    ...proxyProtocolRules(on.table.listen),
    ...networkRule("denied", site.deny),
    ...(site.deny.length === 0 ? [] : ["tcp-request session reject if denied"]),
    ...networkRule("allowed", site.allow),
    ...(site.allow.length === 0 ? [] : ["tcp-request session reject unless allowed"]),
    ...holdRules(site, backend, on.setup),
    `timeout client ${idle}`,
    `default_backend ${backend}`,
  ]);
  return [
    [`in_${backend}`, frontend],
    [backend, section(`backend ${backend} from tcp`, [...balanceLines(site.balance), `timeout server ${idle}`])],
  ];
}

/** Lua may wait no longer than this: a little more than any hold. */
const inspectMs = 65_000;

/** Connections wait while their app is started, as requests do; what wakes it is called by the port. */
function holdRules({ listen }: TcpSite, backend: string, { paths }: Setup): string[] {
  const name = plainName(backend, "backend");
  return [
    `tcp-request inspect-delay ${inspectMs}ms`,
    `tcp-request content set-var(txn.be) str(${name})`,
    `tcp-request content set-var(txn.host) str(${listenAddress(listen, "port").replace(/^.*:/, ":")})`,
    `tcp-request content set-var(txn.hold) var(txn.be),map_str(${argumentPath(mapPath(paths, "hold"))}) if { nbsrv(${name}) eq 0 }`,
    "tcp-request content lua.hold if { var(txn.hold) -m found }",
  ];
}

function tlsWords(site: TcpSite, { table, setup }: { table: Table; setup: Setup }): string {
  if (site.tlsName === undefined) return "";
  const certificate = certificateFor(site.tlsName, table.certificates);
  if (certificate === undefined) throw new UnsafeText(`${site.id} waits for a certificate, so its port`, site.listen);
  return ` ssl crt ${pathWord(certificatePath(setup.paths, certificate.id))}`;
}

/** The one with the name itself, else the one with its wildcard. */
export function certificateFor(name: string, certificates: readonly Certificate[]): Certificate | undefined {
  const wildcard = `*${name.slice(name.indexOf("."))}`;
  return (
    certificates.find(({ names }) => names.includes(name)) ?? certificates.find(({ names }) => names.includes(wildcard))
  );
}
