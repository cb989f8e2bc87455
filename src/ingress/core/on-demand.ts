import { sha256Hex } from "../../base/pure/digest.ts";
import type { Setup } from "./change.ts";
import { bindAddress, proxyProtocolRules } from "./frontend-binds.ts";
import { argumentPath, mapPath } from "./layout.ts";
import { listenAddress, plainName, wholeNumber } from "./quote.ts";
import { type Lines, section } from "./rules.ts";
import type { Table } from "./table.ts";

/**
 * Where certificates are issued on demand, a frontend stands before that of TLS. It reads the name of each handshake
 * without ending TLS. A name with a certificate goes on at once. For any other name Lua asks the server, and the
 * handshake waits. Without certificates on demand, none of this is there.
 */
export function isOnDemand(table: Table, setup: Setup): boolean {
  return table.onDemand === true && setup.door !== undefined && table.listen.https.length > 0;
}

/** The socket between both frontends: an abstract one, as workers cannot enter the folder of the proxy. */
function innerSocket({ paths }: Setup): string {
  return `abns@tls-${sha256Hex(paths.folder).slice(0, 24)}`;
}

/** Lines of the TLS frontend in place of its addresses. Other programs of the machine do not know the word. */
export function innerLines(setup: Setup, tls: string): Lines {
  const word = plainName(setup.door?.word ?? "", "word of the door");
  return [
    `bind ${innerSocket(setup)} accept-proxy ${tls}`,
    `tcp-request session reject unless { fc_pp_unique_id -m str ${word} }`,
  ];
}

/** HAProxy has no larger time. The TLS frontend behind has the times of the sites. */
const longestMs = 2_147_483_647;

export function onDemandSections(table: Table, setup: Setup): string[] {
  const { door } = setup;
  if (door === undefined || !isOnDemand(table, setup)) return [];
  const address = listenAddress(door.address, "address of the door");
  const [word, waitMs] = [plainName(door.word, "word of the door"), wholeNumber(door.waitMs, 600_000, "wait")];
  const waiting = wholeNumber(door.waitingMax, 100_000, "waiting connections");
  const names = argumentPath(mapPath(setup.paths, "names"));
  const { https } = table.listen;
  return [
    section("frontend tls_names from tcp", [
      ...https.map((one) => `bind ${bindAddress(one, https)}`),
      ...proxyProtocolRules(table.listen),
      // Lua may wait no longer than this, so it is a little more than what it waits.
      `timeout client ${door.waitMs + 5_000}ms`,
      "timeout client-fin 5m",
      `unique-id-format ${word}`,
      `tcp-request inspect-delay ${door.waitMs + 5_000}ms`,
      "tcp-request content reject unless { req.ssl_hello_type 1 }",
      // The name may be in a later packet: the condition waits for it.
      "tcp-request content set-var(txn.sni) req.ssl_sni,lower if { req.ssl_sni -m found }",
      `tcp-request content set-var(txn.known) var(txn.sni),map_str(${names}) if { var(txn.sni) -m found }`,
      `tcp-request content set-var(txn.door) str('${address} ${word} ${waitMs} ${waiting}')`,
      "tcp-request content lua.on_demand if { var(txn.sni) -m found } !{ var(txn.known) -m found }",
      "default_backend tls_inner",
    ]),
    section("backend tls_inner from tcp", [
      "timeout server-fin 5m",
      `timeout server ${longestMs}ms`,
      `timeout tunnel ${longestMs}ms`,
      `server tls ${innerSocket(setup)} send-proxy-v2 proxy-v2-options unique-id`,
    ]),
  ];
}
