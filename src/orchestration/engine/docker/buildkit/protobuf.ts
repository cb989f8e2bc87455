/** One field of a message as it is on the wire. Source: protobuf.dev, "Encoding". */
type WireField = { number: number; bytes: Uint8Array } | { number: number; value: number };

const varint = 0;
const fixed64 = 1;
const delimited = 2;
const fixed32 = 5;

/** The fields of a message in their order; a message that is cut off or malformed ends where that begins. */
export function* wireFields(message: Uint8Array): Generator<WireField> {
  const reader = { message, at: 0 };
  while (reader.at < message.length) {
    const key = readVarint(reader);
    const number = Math.floor(key / 8);
    switch (key % 8) {
      case varint:
        yield { number, value: readVarint(reader) };
        break;
      case delimited: {
        const length = readVarint(reader);
        if (reader.at + length > message.length) return;
        yield { number, bytes: message.subarray(reader.at, reader.at + length) };
        reader.at += length;
        break;
      }
      case fixed64:
        reader.at += 8;
        break;
      case fixed32:
        reader.at += 4;
        break;
      default:
        return;
    }
  }
}

/** Beyond 2^53 inexact, which no field that is read here reaches. */
function readVarint(reader: { message: Uint8Array; at: number }): number {
  let value = 0;
  for (let factor = 1; reader.at < reader.message.length; factor *= 128) {
    const byte = reader.message[reader.at] ?? 0;
    reader.at += 1;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
  }
  return value;
}

/** A field that holds bytes, as it is written into a message. */
export function bytesField(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varintBytes(number * 8 + delimited), varintBytes(bytes.length), bytes]);
}

/** A field that holds a whole number from 0 on. */
export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varintBytes(number * 8 + varint), varintBytes(value)]);
}

function varintBytes(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, rest]);
}
