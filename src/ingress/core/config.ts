import { headBytes } from "./head-bytes.ts";
import { builtInPages, tooManyHeaders } from "./pages.ts";
import type { Assignment, Setup } from "./change.ts";
import { webSections } from "./frontend.ts";
import { dedicatedSection, isCommon } from "./dedicated.ts";
import { keepAliveMs, luaPath, pagePath, pathWord } from "./layout.ts";
import { defaultTimes } from "./maps.ts";
import { listenAddress, plainName, wholeNumber } from "./quote.ts";
import { remembered } from "./remember.ts";
import {
  closingRules,
  commonRequest,
  type Lines,
  openingRules,
  redirectSection,
  retryAfter,
  section,
} from "./rules.ts";
import { logFormat } from "./access-line.ts";
import { type AnySite, isHttp, serverWords, upstreamsOf } from "./servers.ts";
import type { Table } from "./table.ts";
import { tcpSections } from "./tcp.ts";

/** The configuration in parts: what a load is needed for, and what changes over the socket. */
interface Parts {
  /** Name → text; the text of sites without their servers. Sections that differ from those in use take a load. */
  fixed: [name: string, text: string][];
  /** Backend → its server lines. */
  servers: Map<string, string>;
}

export function configParts(table: Table, assignment: Assignment, setup: Setup): Parts {
  const fixed: [string, string][] = [["base", baseText(table, setup)]];
  const servers = new Map<string, string>();
  for (const text of webSections(table, setup)) fixed.push([text.split(" ", 2).join(" "), text]);
  for (const site of [...table.sites, ...table.tcp]) {
    const backend = assignment.backends[site.id];
    if (backend === undefined) continue;
    servers.set(backend, serverLines(site, assignment.servers[backend] ?? noServers));
    fixed.push(...siteSections(site, backend, { table, setup, backends: assignment.backends }));
  }
  return { fixed, servers };
}

/** Sections of one site; the last is the backend, to which its servers are added. */
export function siteSections(
  site: AnySite,
  backend: string,
  on: { table: Table; setup: Setup; backends?: Assignment["backends"] },
): [string, string][] {
  if (!isHttp(site)) return tcpSections(site, backend, on);
  if (isCommon(site)) return [];
  const { users, backend: text } = dedicatedSection(site, backend, on.setup);
  return [...(users === "" ? [] : [[`users_${backend}`, users] satisfies [string, string]]), [backend, text]];
}

/** The configuration in its order: each section, and the servers below it. */
export interface Sections {
  groups: readonly SectionGroup[];
  /** Section → its group, and where it is in there. */
  at: ReadonlyMap<string, readonly [group: number, place: number]>;
}

/** Neighbours. Joined once, so that a change of one section does not join those of ten thousand sites. */
interface SectionGroup {
  list: readonly { text: string; servers: string }[];
  text: string;
}

const groupMax = 100;

export function configSections({ fixed, servers }: Parts, poolSize: number): Sections {
  const at = new Map<string, readonly [number, number]>();
  const lists: { text: string; servers: string }[][] = [];
  const add = (name: string, text: string) => {
    if ((lists.at(-1)?.length ?? groupMax) === groupMax) lists.push([]);
    const list = lists.at(-1) ?? [];
    at.set(name, [lists.length - 1, list.length]);
    list.push({ text, servers: servers.get(name) ?? "" });
  };
  for (const [name, text] of fixed) add(name, text);
  for (let number = 1; number <= poolSize; number++) {
    const name = `p${number}`;
    if (!at.has(name)) add(name, `backend ${name} from site\n`);
  }
  return { groups: lists.map(group), at };
}

function group(list: SectionGroup["list"]): SectionGroup {
  return { list, text: list.map(({ text, servers }) => text + servers).join("") };
}

/** With other servers in these sections. Fails for a section that is not there. */
export function withOtherServers({ groups, at }: Sections, servers: ReadonlyMap<string, string>): Sections {
  const next = [...groups];
  for (const [name, lines] of servers) {
    const [where = -1, place = -1] = at.get(name) ?? [];
    const before = next[where];
    const section = before?.list[place];
    if (before === undefined || section === undefined) throw new Error(`there is no section ${name}`);
    if (section.servers !== lines) next[where] = group(before.list.with(place, { ...section, servers: lines }));
  }
  return { groups: next, at };
}

export function configText({ groups }: Sections): string {
  return `# Written by berth with every change; edits are lost.\n${groups.map(({ text }) => text).join("")}`;
}

export const serverLines = remembered((site: AnySite, assigned: Assignment["servers"][string]): string => {
  const lines: string[] = [];
  for (const upstream of upstreamsOf(site).values()) {
    const server = assigned[upstream.id];
    if (server === undefined) continue;
    const name = plainName(server.name, "server");
    lines.push(`  server ${name} ${serverWords(site, upstream)}${upstream.isLeaving ? " disabled" : ""}\n`);
  }
  return lines.join("");
});

/** One object for all sites without servers. */
const noServers: Assignment["servers"][string] = {};

function baseText(table: Table, setup: Setup): string {
  return [
    section("global", globalLines(table, setup)),
    ...(setup.logTo?.transport === "tcp" ? [ringSection(setup.logTo.address)] : []),
    section("defaults base", baseLines(table, setup)),
    section("defaults tcp", ["mode tcp", "timeout connect 1s", ...lostClientLines, "retries 3", "option redispatch 1"]),
    section("defaults site from base", [
      "balance roundrobin",
      commonRequest,
      ...openingRules(setup),
      ...closingRules(setup),
    ]),
    redirectSection(),
  ].join("");
}

function globalLines(table: Table, setup: Setup): Lines {
  const { connectionsMax, threads, user } = setup;
  const rewrite = rewriteBytes(table);
  return [
    `stats socket ${pathWord(setup.paths.socket)} mode 600 level admin expose-fd listeners`,
    "stats timeout 1m",
    ...(user === undefined ? [] : [`user ${plainName(user, "user")}`]),
    ...(threads === undefined ? [] : [`nbthread ${wholeNumber(threads, 64, "threads")}`]),
    `maxconn ${wholeNumber(connectionsMax, 1_000_000, "connections")}`,
    ...(setup.splicesMax === 0 ? [] : [`maxpipes ${wholeNumber(setup.splicesMax, 1_000_000, "splices")}`]),
    // A process that was replaced keeps its WebSockets for this long; of more than ten, the oldest ends.
    "hard-stop-after 12h",
    "mworker-max-reloads 10",
    `lua-load ${pathWord(luaPath(setup.paths))}`,
    ...logLines(setup),
    `tune.bufsize ${wholeNumber(bufferBytes(table, rewrite), 2 ** 20, "buffer")}`,
    `tune.http.maxhdr ${headersRead}`,
    `tune.maxrewrite ${wholeNumber(rewrite, 2 ** 20, "part of the buffer")}`,
    "tune.h2.max-concurrent-streams 100",
    "ssl-default-bind-options ssl-min-ver TLSv1.2",
    "ssl-default-bind-ciphers ECDHE+AESGCM:ECDHE+CHACHA20",
  ];
}

/** Headers that the proxy adds to a request, and what it keeps for each header; the rest of a command. */
const bufferRest = 2 * 1024;
/** The part of it that HAProxy keeps free for headers that are added. */
const rewriteLeast = 1024;
/** What is longer comes with a load. */
const certificateBytesMost = 30 * 1024;
const bufferStep = 4 * 1024;
/** Name and value, the signs between two headers, and what HAProxy keeps for each. */
const bytesOfHeader = ({ name, value }: { name: string; value: string }) => name.length + Buffer.byteLength(value) + 12;
/** `bufferRest` has room for so many bytes of headers that an ingress sets. */
const ownBytesFree = 512;

/**
 * Size of HAProxy's buffers. The head of a request, an own error page, and a certificate or the list of its names each
 * have to fit into one. HAProxy copies a buffer as a whole, twice, for each request that may be sent again, so it is not
 * larger than the table needs.
 */
export function bufferBytes(table: Table, rewrite: number = rewriteBytes(table)): number {
  let most = headBytes.least;
  for (const { options } of table.sites) {
    most = Math.max(most, Math.min(options.limits.headBytes ?? 0, headBytes.most));
    for (const html of Object.values(options.errorPages)) most = Math.max(most, new TextEncoder().encode(html).length);
  }
  for (const { pem, names } of table.certificates) {
    const bytes = Math.max(pem.length, names.join(" ").length);
    most = Math.max(most, Math.min(bytes, certificateBytesMost));
  }
  return headBytes.least + inSteps(most - headBytes.least) + bufferRest - rewriteLeast + rewrite;
}

/**
 * Part of a buffer that the head of a request leaves free. The headers that an ingress sets have to fit into it: without
 * room for them, HAProxy answers with 500.
 */
export function rewriteBytes({ sites }: Table): number {
  let most = 0;
  for (const { options } of sites)
    for (const { set } of [options.requestHeaders, options.responseHeaders])
      most = Math.max(
        most,
        set.reduce((sum, one) => sum + bytesOfHeader(one), 0),
      );
  return rewriteLeast + inSteps(Math.min(most, headBytes.most) - ownBytesFree);
}

const inSteps = (bytes: number) => Math.ceil(Math.max(0, bytes) / bufferStep) * bufferStep;

function logLines({ logTo }: Setup): Lines {
  if (logTo === undefined) return [];
  const target = logTo.transport === "tcp" ? "ring@requests" : listenAddress(logTo.address, "receiver of the log");
  return [`log ${target} len 4096 format raw local0 debug`];
}

/**
 * A WebSocket and a connection to a port of its own may be silent for a day. A client that went away without closing is
 * noticed after two minutes, and one that has closed its half waits no longer than for any answer.
 */
const lostClientLines: Lines = [
  "option clitcpka",
  "clitcpka-idle 60s",
  "clitcpka-intvl 15s",
  "clitcpka-cnt 4",
  `timeout client-fin ${defaultTimes.responseMs}ms`,
];

const firstWord = (text: string | undefined) => (text === undefined ? "" : `${plainName(text, "word of the log")} `);

function ringSection(address: string): string {
  return section("ring requests", [
    "format raw",
    "maxlen 4096",
    "size 8388608",
    "timeout connect 1s",
    "timeout server 10s",
    `server receiver ${listenAddress(address, "receiver of the log")} log-proto octet-count`,
  ]);
}

/**
 * HAProxy has one time for all clients of an address: only from 2.9 on, a rule can change it for a request. It is about
 * requests and responses under way; between two requests, the shorter `timeout http-keep-alive` closes a connection.
 */
function clientMs({ sites }: Table): number {
  const all = sites.map(({ options }) => options.limits.clientMs ?? defaultTimes.clientMs);
  return all.length === 0 ? defaultTimes.clientMs : Math.max(1, ...all);
}

/**
 * Headers that HAProxy reads of one head, in place of 101. It answers to more with a page of its own, which nothing
 * changes, so a rule refuses far fewer with ours.
 */
const headersRead = 1_000;

function baseLines(table: Table, setup: Setup): Lines {
  return [
    "mode http",
    ...(setup.logTo === undefined ? [] : ["log global", `log-format '${firstWord(setup.logTo.word)}${logFormat}'`]),
    "timeout connect 1s",
    `timeout client ${wholeNumber(clientMs(table), 86_400_000, "time of clients")}ms`,
    ...lostClientLines,
    `timeout server ${defaultTimes.responseMs}ms`,
    `timeout tunnel ${defaultTimes.tunnelMs}ms`,
    "timeout http-request 10s",
    `timeout http-keep-alive ${keepAliveMs}ms`,
    "timeout queue 30s",
    "retries 3",
    "retry-on conn-failure empty-response",
    "option redispatch 1",
    "http-reuse safe",
    // Without it, a piece of a stream waits up to 200 ms for the next one.
    "option http-no-delay",
    "option idle-close-on-response",
    ...builtInPages()
      .filter(([name]) => name !== "maintenance" && name !== tooManyHeaders)
      .map(
        ([status]) =>
          `http-error status ${status} content-type 'text/html; charset=utf-8' lf-file ${pathWord(pagePath(setup.paths, status))} hdr cache-control no-store${retryAfter(status)}`,
      ),
  ];
}
