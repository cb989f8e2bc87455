import { isFields } from "../../base/pure/fields.ts";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { CommandFailure } from "../basics/failures.ts";
import { writeWhole } from "../basics/write-whole.ts";
import { readAddress, readName, readSocket, type SshAddress } from "./address.ts";

/** A server that is reached by ssh. */
export interface Remote extends SshAddress {
  name: string;
  /** Private key file. */
  identity?: string;
  /** The server's unix socket on its machine. */
  socket?: string;
  groups: readonly string[];
}

export interface Remotes {
  /** Name of the one that is used when none is named. */
  default?: string;
  list: readonly Remote[];
}

export interface RemoteLimits {
  remotesMax: number;
  fileBytesMax: number;
}

const fields = ["host", "user", "port", "identity", "socket", "groups"];

/** A file that does not exist holds no remotes. Fails with the place of the fault. */
export function readRemotes(file: string, limits: RemoteLimits): Remotes {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return { list: [] };
    throw unreadable(file, codeOf(error), { uid: process.getuid?.(), gid: process.getgid?.() });
  }
  if (Buffer.byteLength(text) > limits.fileBytesMax)
    throw fault(file, "", `is larger than ${limits.fileBytesMax} bytes`);
  const value = objectAt(file, "", parseJson(file, text));
  requireKnown(file, "", value, ["default", "remotes"]);
  const entries = Object.entries(objectAt(file, "remotes", value.remotes ?? {}));
  if (entries.length > limits.remotesMax) throw fault(file, "remotes", `has more than ${limits.remotesMax} entries`);
  const list = entries.map(([name, entry]) => readRemote(file, name, entry));
  const standard = value.default;
  if (standard === undefined) return { list };
  if (typeof standard !== "string" || !list.some(({ name }) => name === standard)) {
    throw fault(file, "default", "does not name one of the remotes");
  }
  return { default: standard, list };
}

/** Whole or not at all, and readable for its owner only. */
export function writeRemotes(file: string, { default: standard, list }: Remotes): void {
  const remotes = Object.fromEntries(
    list.map(({ name, groups, ...rest }) => [name, { ...rest, ...(groups.length === 0 ? {} : { groups }) }]),
  );
  const text = JSON.stringify({ ...(standard === undefined ? {} : { default: standard }), remotes }, null, 2);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CommandFailure(`cannot write ${file}: ${codeOf(error)}`);
  }
  writeWhole({ path: file, shown: file, text: `${text}\n`, mode: 0o600, exact: true });
}

function readRemote(file: string, name: string, entry: unknown): Remote {
  const at = `remotes.${name}`;
  const value = objectAt(file, at, entry);
  requireKnown(file, at, value, fields);
  const { port, groups = [] } = value;
  const text = (field: string) => textAt(file, `${at}.${field}`, value[field]);
  const [host, user, identity, socket] = [text("host"), text("user"), text("identity"), text("socket")];
  if (host === undefined) throw fault(file, `${at}.host`, "is missing");
  if (port !== undefined && typeof port !== "number") throw fault(file, `${at}.port`, "is not a number");
  if (!Array.isArray(groups)) throw fault(file, `${at}.groups`, "is not a list");
  const check = <T>(field: string, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw fault(file, field === "" ? at : `${at}.${field}`, error instanceof Error ? error.message : "is wrong");
    }
  };
  return {
    name: check("", () => readName(name)),
    ...check("", () => readAddress({ host, user, port })),
    ...(identity === undefined ? {} : { identity }),
    ...(socket === undefined ? {} : { socket: check("socket", () => readSocket(socket)) }),
    groups: groups.map((group, index) => check(`groups[${index}]`, () => readName(String(group)))),
  };
}

function textAt(file: string, at: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw fault(file, at, "is not a text");
}

function objectAt(file: string, at: string, value: unknown): Record<string, unknown> {
  if (isFields(value)) return { ...value };
  throw fault(file, at, "is not an object");
}

function requireKnown(file: string, at: string, value: object, known: readonly string[]): void {
  const odd = Object.keys(value).find((name) => !known.includes(name));
  if (odd === undefined) return;
  throw fault(file, at === "" ? odd : `${at}.${odd}`, `is not a known field; there are ${known.join(", ")}`);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fault(file, "", "is not JSON");
  }
}

function fault(file: string, at: string, what: string): CommandFailure {
  return new CommandFailure(at === "" ? `${file} ${what}` : `${file}: ${at}: ${what}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

interface User {
  uid: number | undefined;
  gid: number | undefined;
}

/** Names the file of the client that cannot be read, who owns it, and the command that helps. */
export function unreadable(file: string, code: string | undefined, { uid, gid }: User): CommandFailure {
  if (code !== "EACCES" && code !== "EPERM") return new CommandFailure(`cannot read ${file}: ${code}`);
  const place = closedPlace(file);
  const owner = statSync(place).uid;
  const whose = owner === uid ? "this user, without the permission to read it" : owner === 0 ? "root" : `user ${owner}`;
  const belongs = `cannot read ${file}: ${place === file ? "it" : place} belongs to ${whose}`;
  // Another folder may be the home of somebody else: it is not ours to be given away.
  if (place !== file && basename(place) !== "berth") {
    return new CommandFailure(`${belongs}; check HOME and XDG_CONFIG_HOME: they lead to the folder of another user`);
  }
  const way = owner === uid ? "chmod -R u+rwX" : `sudo chown -R ${uid}:${gid}`;
  return new CommandFailure(`${belongs}; to make it readable: ${way} ${shellWord(place)}`);
}

/** The folder on the way that does not let this user through; the file itself where none keeps it out. */
function closedPlace(path: string): string {
  try {
    statSync(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : closedPlace(parent);
  }
}

function shellWord(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
