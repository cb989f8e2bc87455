const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/;

/** UTF-8. */
export function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Bytes of a base64 text, line breaks allowed; undefined when it is none. */
export function base64Bytes(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\r\n]/g, "");
  if (compact.length % 4 !== 0 || !base64Pattern.test(compact)) return undefined;
  return new Uint8Array(Buffer.from(compact, "base64"));
}
