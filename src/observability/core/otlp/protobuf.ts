import { type Budget, OtlpError } from "./budget.ts";
import type { Scalar, Shape } from "./shapes.ts";

type Fields = Record<string, unknown>;

interface Reader {
  bytes: Uint8Array;
  view: DataView;
  at: number;
  end: number;
}

/** Wire types of protobuf. */
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const wireOf: Readonly<Record<Scalar, number>> = {
  string: wire.bytes,
  bytes: wire.bytes,
  id: wire.bytes,
  bool: wire.varint,
  varint: wire.varint,
  int64: wire.varint,
  sint32: wire.varint,
  double: wire.fixed64,
  fixed64: wire.fixed64,
  sfixed64: wire.fixed64,
};

const texts = new TextDecoder();

/**
 * Reads a message of protobuf as the object that its JSON would be. Whole numbers of 64 bits become numbers, exact up to
 * 2^53. Fails with an `OtlpError` for anything else, and never reads or makes more than `budget` allows.
 */
export function decodeProtobuf(shape: Shape, bytes: Uint8Array, budget: Budget): Fields {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  budget.item();
  return message({ bytes, view, at: 0, end: bytes.length }, shape, budget);
}

function message(reader: Reader, shape: Shape, budget: Budget): Fields {
  return budget.deeper(() => {
    const fields: Fields = {};
    while (reader.at < reader.end) {
      const tag = varint(reader);
      const [number, type] = [Math.floor(tag / 8), tag % 8];
      if (number === 0) throw new OtlpError(`byte ${reader.at}: a field has the number 0`);
      const field = shape[number];
      if (field === undefined) skip(reader, type);
      else if (typeof field.type === "function") {
        budget.item(field.isEntry);
        const inner = message(part(reader, type), field.type(), budget);
        if (field.repeated) listOf(fields, field.name).push(inner);
        // A message that comes in pieces is one message.
        else fields[field.name] = { ...(fields[field.name] as Fields | undefined), ...inner };
      } else if (field.repeated) values(reader, { type, scalar: field.type, into: listOf(fields, field.name), budget });
      else fields[field.name] = scalar(reader, type, field.type);
    }
    return fields;
  });
}

function listOf(fields: Fields, name: string): unknown[] {
  const list = (fields[name] as unknown[] | undefined) ?? [];
  fields[name] = list;
  return list;
}

interface Values {
  type: number;
  scalar: Scalar;
  into: unknown[];
  budget: Budget;
}

/** Numbers of a list lie behind each other in one field, or each has a field of its own. */
function values(reader: Reader, { type, scalar: of, into, budget }: Values): void {
  const own = wireOf[of];
  if (type !== wire.bytes || own === wire.bytes) {
    budget.item();
    into.push(scalar(reader, type, of));
    return;
  }
  const packed = part(reader, type);
  while (packed.at < packed.end) {
    budget.item();
    into.push(scalar(packed, own, of));
  }
}

function scalar(reader: Reader, type: number, of: Scalar): unknown {
  if (type !== wireOf[of]) throw new OtlpError(`byte ${reader.at}: a field has the wire type ${type}`);
  switch (of) {
    case "string":
      return texts.decode(slice(reader));
    case "bytes":
      return slice(reader).toBase64();
    case "id":
      return slice(reader).toHex();
    case "bool":
      return varint(reader) !== 0;
    case "varint":
      return varint(reader);
    case "int64":
      return signed(reader);
    case "sint32": {
      const value = varint(reader);
      return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    }
    case "double":
      return reader.view.getFloat64(take(reader, 8), true);
    case "fixed64":
      return Number(reader.view.getBigUint64(take(reader, 8), true));
    case "sfixed64":
      return Number(reader.view.getBigInt64(take(reader, 8), true));
  }
}

const bitsMax = 64;

/** Seven bits a byte, low ones first. */
function varint(reader: Reader): number {
  let value = 0;
  let factor = 1;
  for (let bits = 0; bits < bitsMax + 6; bits += 7) {
    const byte = reader.bytes[take(reader, 1)] ?? 0;
    value += (byte % 128) * factor;
    if (byte < 128) return value;
    factor *= 128;
  }
  throw new OtlpError(`byte ${reader.at}: a number has more than ${bitsMax} bits`);
}

/** Negative numbers have all ten bytes. */
function signed(reader: Reader): number {
  let value = 0n;
  for (let bits = 0n; bits < 70n; bits += 7n) {
    const byte = reader.bytes[take(reader, 1)] ?? 0;
    value |= BigInt(byte % 128) << bits;
    if (byte < 128) return Number(BigInt.asIntN(bitsMax, value));
  }
  throw new OtlpError(`byte ${reader.at}: a number has more than ${bitsMax} bits`);
}

/** Moves on by `count` bytes; where they begin. */
function take(reader: Reader, count: number): number {
  const { at } = reader;
  if (at + count > reader.end) throw new OtlpError(`byte ${at}: the message ends too early`);
  reader.at += count;
  return at;
}

function part(reader: Reader, type: number): Reader {
  if (type !== wire.bytes) throw new OtlpError(`byte ${reader.at}: a message has the wire type ${type}`);
  const length = varint(reader);
  const at = take(reader, length);
  return { ...reader, at, end: at + length };
}

function slice(reader: Reader): Uint8Array {
  const length = varint(reader);
  const at = take(reader, length);
  return reader.bytes.subarray(at, at + length);
}

function skip(reader: Reader, type: number): void {
  if (type === wire.varint) varint(reader);
  else if (type === wire.fixed64) take(reader, 8);
  else if (type === wire.bytes) slice(reader);
  else if (type === wire.fixed32) take(reader, 4);
  else throw new OtlpError(`byte ${reader.at}: a field has the wire type ${type}`);
}
