import { deflateRawSync } from "node:zlib";

interface ZipMember {
  name: string;
  /** Takes the bytes of the member before, in place of bytes of its own. */
  same?: boolean;
  text: string;
  mode?: number;
  flags?: number;
}

/** A zip archive as Info-ZIP writes it on Unix. */
export function zip(members: readonly ZipMember[]): Uint8Array {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  let start = 0;
  let packed: Buffer = Buffer.alloc(0);
  for (const { name, text, mode = 0o100644, flags = 0, same = false } of members) {
    if (!same) [start, packed] = [offset, deflateRawSync(text)];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt8(3, 5);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(start, 42);
    central.push(entry, Buffer.from(name));
    if (same) continue;
    parts.push(local, Buffer.from(name), packed);
    offset += local.length + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}
