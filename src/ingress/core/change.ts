import type { ErrorPageStatus, Site, Table, TcpSite } from "./table.ts";

/**
 * The language between the pure part and the room that runs the proxy: `changes()` compares what the proxy has with
 * the next table, and answers with a `Change` that the proxy room carries out.
 */

/** What the running proxy was last told. It is stored beside the files, so that a restart of the server keeps it. */
export interface Running {
  table: Table;
  assignment: Assignment;
}

/** Names that the proxy knows things by. Plain data, made to be stored as JSON. */
export interface Assignment {
  /** Id of a site or TCP site → its backend. */
  backends: Record<string, string>;
  /** Backend → id of the upstream → its server. */
  servers: Record<string, Record<string, AssignedServer>>;
  /** Number of the next server, so that no name is ever used twice. */
  nextServer: number;
  /** Number of the next dedicated backend. */
  nextDedicated: number;
  /** Backends `p1` to `p<poolSize>` are spare or in use by a site with common options. */
  poolSize: number;
  /** Pool backends that had a site since the last load; they are spare again after the next one. */
  used: string[];
  /** What the process was loaded with: section of the configuration or file → digest. */
  loaded: Record<string, string>;
}

export interface AssignedServer {
  name: string;
  /** Address and options, as the words of a server line; a server whose words change gets a new name. */
  words: string;
}

/** Where the files of the proxy are. All are absolute. */
export interface Paths {
  /** Folder of everything below: `haproxy.cfg`, `hold.lua`, `crt.list`, `maps/`, `certs/`, `pages/`. */
  folder: string;
  /** Unix socket of the commands. */
  socket: string;
}

/** What the installed HAProxy can do; probed, never assumed. */
export interface Capabilities {
  major: number;
  minor: number;
  /** Built with Lua: requests can be held while a site has no replica. */
  lua: boolean;
  /** Servers are added and deleted over the socket. Without it, each change of replicas is a reload. */
  addServer: boolean;
}

/** What else the text depends on. */
export interface Setup {
  paths: Paths;
  capabilities: Capabilities;
  /** Prefix of headers that berth adds: `X-Berth`. */
  headerPrefix: string;
  /** User that the worker runs as; undefined: the one that starts it. */
  user: string | undefined;
  /** `host:port` of the receiver of one line for each request, and the word that each begins with; undefined: no lines. */
  logTo: { address: string; transport: "udp" | "tcp"; word?: string } | undefined;
  /**
   * Where the proxy asks about names without a certificate, the word that each question begins with, how long a
   * handshake waits, and how many wait at one time; undefined: no certificates on demand.
   */
  door: { address: string; word: string; waitMs: number; waitingMax: number } | undefined;
  /** What is added to requests to parts of this server, so that they know them for ours; undefined: nothing. */
  ownHeader?: { name: string; value: string } | undefined;
  /** Connections of clients at one time. */
  connectionsMax: number;
  /** Downloads over plain HTTP at one time that the kernel carries by itself; of more, and with 0 of all, HAProxy copies. */
  splicesMax: number;
  /** Spare backends that a load leaves for new sites. */
  spareBackends: number;
  /** Threads of the proxy; undefined: as many as the machine has. */
  threads: number | undefined;
}

/** What the proxy room does, in this order: write the files, send the commands, reload, store the rest. */
export interface Change {
  assignment: Assignment;
  /** Where only replicas of some sites are others: these sites, as they are now. Absent for every other change. */
  replaced?: readonly (Site | TcpSite)[];
  /** Complete new content of each file that differs from what is on disk. */
  files: ProxyFile[];
  /** Files that nothing refers to any more; they go after everything else. */
  obsoleteFiles: string[];
  /** After the commands: start the proxy, or let it load its files again. */
  reload: boolean;
  /** Why, for the log: `site shop/web: other options`. Empty when `reload` is false. */
  reloadReasons: string[];
  /** Before a load they are a courtesy to the process that is replaced: one that fails is passed over. */
  commands: Command[];
  /** Servers that get no new requests from now on, and have to be deleted when they are idle. */
  leaving: ServerName[];
  /** Sites that were left out because their texts cannot be written safely. */
  refused: Refused[];
}

/** A site that is left out, and why. */
export interface Refused {
  site: string;
  problem: string;
}

export interface ProxyFile {
  path: string;
  content: string;
  mode: 0o600 | 0o644;
}

export interface ServerName {
  backend: string;
  server: string;
}

/** One step over the runtime socket. `socketText()` in commands.ts writes it. */
export type Command =
  /** Made disabled; `enable-server` follows. */
  | ({ kind: "add-server"; words: string } & ServerName)
  | ({ kind: "enable-server" } & ServerName)
  /** Gets nothing new, not even requests that a cookie binds to it; what is under way ends. */
  | ({ kind: "disable-server" } & ServerName)
  /** Refused while a connection is open. */
  | ({ kind: "delete-server" } & ServerName)
  | ({ kind: "close-sessions" } & ServerName)
  | ({ kind: "set-weight"; weight: number } & ServerName)
  | ({ kind: "set-server-limit"; connections: number } & ServerName)
  | { kind: "add-map"; map: string; key: string; value: string }
  | { kind: "set-map"; map: string; key: string; value: string }
  | { kind: "delete-map"; map: string; key: string }
  /** Many entries in one step: the reply names a version, which the next two carry. */
  | { kind: "prepare-map"; map: string }
  | { kind: "fill-map"; map: string; entries: { key: string; value: string }[] }
  | { kind: "commit-map"; map: string }
  | { kind: "new-certificate"; file: string }
  | { kind: "set-certificate"; file: string; pem: string }
  | { kind: "commit-certificate"; file: string }
  | { kind: "list-certificate"; list: string; file: string; names: string[] }
  | { kind: "unlist-certificate"; list: string; file: string }
  | { kind: "delete-certificate"; file: string };

/** Largest own error page, in bytes of UTF-8: the proxy keeps each in one buffer. */
export const errorPageBytesMax = 24 * 1024;

export const errorPageStatuses: readonly ErrorPageStatus[] = [403, 404, 413, 429, 502, 503, 504];
