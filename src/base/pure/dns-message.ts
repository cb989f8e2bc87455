/** The one question of a DNS query (RFC 1035, section 4). */
export interface DnsQuestion {
  /** Lower case, without the final dot. Other bytes than those of host names are written as `\ddd`. */
  name: string;
  type: number;
  class: number;
  /** Offset of the last label of the name, and of what follows the question. */
  lastLabel: number;
  end: number;
  /** Whether the query has an EDNS record (RFC 6891). */
  hasEdns: boolean;
}

export const dnsTypes = { a: 1, soa: 6, ptr: 12, aaaa: 28, opt: 41 } as const;
export const dnsCodes = { none: 0, malformed: 1, absent: 3, unknownKind: 4, refused: 5 } as const;
export const internetClass = 1;

const headBytes = 12;
const nameBytesMax = 255;
const labelBytesMax = 63;
/** Bits of the third byte: response, kind of query, authoritative, recursion desired. */
const bits = { response: 0x80, kind: 0x78, authoritative: 0x04, recursion: 0x01 } as const;
const recursionAvailable = 0x80;

/** Whether the bytes are a query: responses are never answered, so that two servers cannot answer each other for ever. */
export function isDnsQuery(message: Uint8Array): boolean {
  return message.length >= headBytes && (byteAt(message, 2) & bits.response) === 0;
}

/** The question of a query; undefined for another kind of query, for none or several questions, and for a broken name. */
export function readQuestion(message: Uint8Array): DnsQuestion | undefined {
  if (!isDnsQuery(message) || (byteAt(message, 2) & bits.kind) !== 0 || wordAt(message, 4) !== 1) return undefined;
  const labels: string[] = [];
  let [at, lastLabel] = [headBytes, headBytes];
  for (;;) {
    const length = message[at];
    // A pointer is longer than a label: a question has nothing before it that one could lead to.
    if (length === undefined || length > labelBytesMax || at + length - headBytes >= nameBytesMax) return undefined;
    if (length === 0) break;
    const label = message.subarray(at + 1, at + 1 + length);
    if (label.length < length) return undefined;
    labels.push(textOf(label));
    lastLabel = at;
    at += 1 + length;
  }
  const end = at + 5;
  if (end > message.length) return undefined;
  const [type, kind] = [wordAt(message, at + 1), wordAt(message, at + 3)];
  return { name: labels.join("."), type, class: kind, lastLabel, end, hasEdns: hasEdns(message, end) };
}

interface DnsAnswer {
  code: number;
  /** With this the answer is authoritative: no other server is asked. No resolver keeps it. */
  isOwn?: boolean;
}

/** An answer without records: to the question, or to a query whose question could not be read. */
export function emptyAnswer(query: Uint8Array, question: DnsQuestion | undefined, answer: DnsAnswer): Uint8Array {
  const { code, isOwn = false } = answer;
  const asked = question === undefined ? query.subarray(0, 0) : query.subarray(headBytes, question.end);
  const authority = isOwn && question !== undefined ? authorityOf(question) : [];
  const edns = question?.hasEdns === true ? ednsRecord : [];
  const flags = (byteAt(query, 2) & (bits.kind | bits.recursion)) | bits.response | (isOwn ? bits.authoritative : 0);
  const counts = [question === undefined ? 0 : 1, 0, authority.length > 0 ? 1 : 0, edns.length > 0 ? 1 : 0];
  const head = [byteAt(query, 0), byteAt(query, 1), flags, recursionAvailable | code, ...counts.flatMap(word)];
  return Uint8Array.from([...head, ...asked, ...authority, ...edns]);
}

/** What a resolver asks: for tests, and to find out whether a server answers. */
export function query(id: number, name: string, type: number): Uint8Array {
  const labels = name.split(".").flatMap((label) => [label.length, ...new TextEncoder().encode(label)]);
  const head = [...word(id), bits.recursion, 0, ...word(1), ...word(0), ...word(0), ...word(0)];
  return Uint8Array.from([...head, ...labels, 0, ...word(type), ...word(internetClass)]);
}

/** Code and authority of an answer to the query with this id; undefined for anything else. */
export function readAnswer(message: Uint8Array, id: number): { code: number; isOwn: boolean } | undefined {
  if (message.length < headBytes || wordAt(message, 0) !== id || (byteAt(message, 2) & bits.response) === 0)
    return undefined;
  return { code: byteAt(message, 3) & 0x0f, isOwn: (byteAt(message, 2) & bits.authoritative) !== 0 };
}

/**
 * The record SOA of the last label, which says how long an empty answer may be kept (RFC 2308): for no time, because the
 * name exists as soon as a container with it runs.
 */
function authorityOf({ lastLabel }: DnsQuestion): number[] {
  const zone = word(0xc000 | lastLabel);
  const numbers = [1, 60, 60, 60, 0].flatMap((number) => [...word(0), ...word(number)]);
  const data = [...zone, ...zone, ...numbers];
  return [
    ...zone,
    ...word(dnsTypes.soa),
    ...word(internetClass),
    ...word(0),
    ...word(0),
    ...word(data.length),
    ...data,
  ];
}

/** Says that answers over UDP may have 1,232 bytes. */
const ednsRecord = [0, ...word(dnsTypes.opt), ...word(1_232), 0, 0, 0, 0, 0, 0];

/** Whether the first record behind the question is that of EDNS: no query of a resolver has another one before it. */
function hasEdns(message: Uint8Array, end: number): boolean {
  const [answers, authorities, others] = [6, 8, 10].map((at) => wordAt(message, at));
  if (answers !== 0 || authorities !== 0 || others === 0) return false;
  return message.length >= end + ednsRecord.length && message[end] === 0 && wordAt(message, end + 1) === dnsTypes.opt;
}

function textOf(label: Uint8Array): string {
  return Array.from(label, (byte) => {
    const letter = String.fromCharCode(byte);
    return /[\w-]/.test(letter) ? letter.toLowerCase() : `\\${String(byte).padStart(3, "0")}`;
  }).join("");
}

function byteAt(message: Uint8Array, at: number): number {
  return message[at] ?? 0;
}

function wordAt(message: Uint8Array, at: number): number {
  return (byteAt(message, at) << 8) | byteAt(message, at + 1);
}

function word(number: number): number[] {
  return [(number >> 8) & 0xff, number & 0xff];
}
