const block = 512;
const nameBytesMax = 100;
const encoder = new TextEncoder();

/** The head of a file in a tar archive (POSIX ustar), with a longer or foreign name in a record before it (pax). */
export function tarHead(path: string, bytes: number): Uint8Array<ArrayBuffer> {
  const name = encoder.encode(path);
  if (name.length <= nameBytesMax) return head(name, { bytes, type: "0" });
  const record = paxRecord("path", name);
  return joined([
    head(encoder.encode("pax"), { bytes: record.length, type: "x" }),
    record,
    tarPadding(record.length),
    head(name.subarray(0, nameBytesMax), { bytes, type: "0" }),
  ]);
}

/** What follows the content of a file. */
export function tarPadding(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((block - (bytes % block)) % block);
}

/** The end of an archive. */
export function tarEnd(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(2 * block);
}

function head(name: Uint8Array, { bytes, type }: { bytes: number; type: string }): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(block);
  const put = (text: string, at: number) => made.set(encoder.encode(text), at);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;
  made.set(name, 0);
  put(octal(0o644, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(bytes, 12), 124);
  put(octal(0, 12), 136);
  put(" ".repeat(8), 148);
  put(type, 156);
  put("ustar\u000000", 257);
  const sum = made.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return made;
}

/** `LENGTH KEY=VALUE\n`, where the length counts its own digits. */
function paxRecord(key: string, value: Uint8Array): Uint8Array<ArrayBuffer> {
  const rest = joined([encoder.encode(` ${key}=`), value, encoder.encode("\n")]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return joined([encoder.encode(String(length)), rest]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
