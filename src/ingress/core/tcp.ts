import type { Setup } from "./change.ts";
import { balanceLines } from "./dedicated.ts";
import { bindAddress, proxyProtocolRules } from "./frontend-binds.ts";
import { certificatePath, pathWord } from "./layout.ts";
import { UnsafeText, wholeNumber } from "./quote.ts";
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
    `timeout client ${idle}`,
    `default_backend ${backend}`,
  ]);
  return [
    [`in_${backend}`, frontend],
    [backend, section(`backend ${backend} from tcp`, [...balanceLines(site.balance), `timeout server ${idle}`])],
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
