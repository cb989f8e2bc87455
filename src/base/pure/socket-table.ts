/** The two ends of a TCP connection, as the listening side sees them. */
export interface SocketEnds {
  localAddress: string;
  localPort: number;
  remoteAddress: string;
  remotePort: number;
}

/** One row of `/proc/net/tcp` or `/proc/net/tcp6`. */
export interface SocketRow {
  uid: number;
  /** 0 once no process holds the socket any more; the kernel then shows uid 0, not the user who made it. */
  inode: number;
}

/**
 * The first two columns of the client's row, per table. A client that reaches an IPv4 address through an IPv6 socket
 * stands in `tcp6` under the mapped address, so IPv4 connections have a text for both tables.
 */
export function clientRowTexts(ends: SocketEnds): { tcp: string | undefined; tcp6: string } {
  const client = bytesOf(ends.remoteAddress);
  const server = bytesOf(ends.localAddress);
  const text = (from: (address: number[]) => string) =>
    `${from(client)}:${port(ends.remotePort)} ${from(server)}:${port(ends.localPort)} `;
  const isIpv4 = isMapped(client) && isMapped(server);
  return { tcp: isIpv4 ? text((address) => hexWords(address.slice(12))) : undefined, tcp6: text(hexWords) };
}

/** The row of `table` that begins with `rowText`; undefined where there is none. */
export function findRow(table: string, rowText: string): SocketRow | undefined {
  const start = table.indexOf(` ${rowText}`);
  if (start < 0) return undefined;
  const end = table.indexOf("\n", start);
  const line = table.slice(start + 1, end < 0 ? undefined : end);
  // local, remote, state, queues, timer, retransmits, uid, timeout, inode
  const columns = line.trim().split(/\s+/);
  const [uid, inode] = [Number(columns[6]), Number(columns[8])];
  return Number.isInteger(uid) && Number.isInteger(inode) ? { uid, inode } : undefined;
}

function port(value: number): string {
  return value.toString(16).toUpperCase().padStart(4, "0");
}

/** As the kernel of a little-endian machine prints it: words of four bytes, each back to front. */
function hexWords(bytes: number[]): string {
  let text = "";
  for (let word = 0; word < bytes.length; word += 4) {
    for (let index = 3; index >= 0; index--) text += hexByte(bytes[word + index] ?? 0);
  }
  return text;
}

function hexByte(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, "0");
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

export function isMapped(bytes: number[]): boolean {
  return mappedPrefix.every((value, index) => bytes[index] === value);
}

/** Sixteen bytes; IPv4 in its mapped form. */
export function bytesOf(address: string): number[] {
  const tail = /(?:^|:)(\d{1,3}(?:\.\d{1,3}){3})$/.exec(address)?.[1];
  if (tail !== undefined && !address.includes(":")) return [...mappedPrefix, ...tail.split(".").map(Number)];
  const plain = tail === undefined ? address : `${address.slice(0, -tail.length)}${pairOf(tail)}`;
  const [head = "", rest] = plain.split("%")[0]?.split("::") ?? [];
  const [left, right] = [wordsOf(head), wordsOf(rest ?? "")];
  const words = [...left, ...new Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right];
  return words.flatMap((word) => [word >> 8, word & 255]);
}

function pairOf(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function wordsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16));
}
