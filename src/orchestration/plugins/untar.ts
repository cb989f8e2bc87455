import { chmod, mkdir, open, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { extract, type Header } from "tar-stream";
import { inflationGuard } from "../../base/wire/inflation-guard.ts";
import type { InflationLimits } from "../../base/pure/inflation.ts";
import { Failure } from "../../base/wire/failure.ts";
import { isInside } from "../core/plugin-names.ts";
import { checkSize, type TreeLimits } from "./tree.ts";

/** Limits of a package as it comes. */
export interface PackageLimits extends TreeLimits {
  inflation: InflationLimits;
}

interface UntarResult {
  /** Text of the archive's first comment: hosts write the commit there. */
  comment: string | undefined;
}

/** The first header and, of an archive that a host made, the comment behind it. */
const headBytes = 1_024;

interface Link {
  path: string;
  to: string;
}

interface Unpacking {
  folder: string;
  limits: TreeLimits;
  links: Link[];
  files: number;
  bytes: number;
}

/**
 * Unpacks a gzipped tar (POSIX ustar and pax, GNU long names) below `folder`, which exists; the first part of each path
 * is left out, as archives of a repository have one folder around all. Nothing is held in memory, links are made last,
 * and nothing is written outside of `folder`. Fails `invalid` for what is not such an archive, `too_large` beyond `limits`.
 */
export async function untar(
  packed: ReadableStream<Uint8Array>,
  folder: string,
  limits: PackageLimits,
): Promise<UntarResult> {
  let head = Buffer.alloc(0);
  const kept = (piece: Uint8Array) => {
    if (head.byteLength < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes - head.byteLength)]);
  };
  const state: Unpacking = { folder, limits, links: [], files: 0, bytes: 0 };
  const archive = extract();
  const source = Readable.fromWeb(gunzipped(packed, limits, kept) as never);
  source.on("error", (error) => archive.destroy(error));
  source.pipe(archive);
  try {
    for await (const entry of archive) {
      await place(state, entry.header, entry as AsyncIterable<Uint8Array>);
      // What is not written is read all the same: the next header comes behind it.
      for await (const _ of entry);
    }
    if (head.byteLength === 0) throw new Failure("invalid", "broken archive: it is empty");
    await makeLinks(state);
    return { comment: commentIn(head) };
  } catch (error) {
    throw error instanceof Failure
      ? error
      : new Failure("invalid", `broken archive: ${textOf(error)}`, { cause: error });
  } finally {
    source.destroy();
    archive.destroy();
  }
}

function gunzipped(
  packed: ReadableStream<Uint8Array>,
  { inflation }: PackageLimits,
  tell: (piece: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  let came = 0;
  const guard = inflationGuard(() => came, inflation);
  const each = (look: (piece: Uint8Array) => void) =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, to) {
        look(piece);
        to.enqueue(piece);
      },
    });
  const count = (piece: Uint8Array) => {
    came += piece.byteLength;
  };
  return packed
    .pipeThrough(each(count))
    .pipeThrough(new DecompressionStream("gzip") as never)
    .pipeThrough(each(guard))
    .pipeThrough(each(tell));
}

/** Hosts begin an archive with a header about all of it (pax `g`), whose only record is the comment. */
function commentIn(head: Buffer): string | undefined {
  if (head[156] !== "g".charCodeAt(0)) return undefined;
  const size = Number.parseInt(head.toString("latin1", 124, 135), 8);
  return /(?:^|\n)\d+ comment=([^\n]*)/.exec(head.toString("utf8", 512, 512 + size))?.[1];
}

async function place(state: Unpacking, header: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
  const path = header.name
    .split("/")
    .slice(1)
    .filter((part) => part !== "." && part !== "")
    .join("/");
  if (path === "") return;
  if (!isInside(path)) throw new Failure("invalid", `the archive holds "${path}", which leads out of the package`);
  state.files += 1;
  state.bytes += header.size ?? 0;
  checkSize(state, state.limits);
  const target = join(state.folder, path);
  if (header.type === "directory") await mkdir(target, { recursive: true });
  else if (header.type === "symlink") state.links.push({ path, to: header.linkname ?? "" });
  else if (header.type === "file") await writeFile(target, content, header.mode ?? 0o644);
  else throw new Failure("invalid", `the archive holds "${path}", which is neither a file, a folder nor a link`);
}

async function writeFile(target: string, content: AsyncIterable<Uint8Array>, mode: number): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const file = await open(target, "wx", 0o644);
  try {
    for await (const part of content) await file.writeFile(part);
  } finally {
    await file.close();
  }
  await chmod(target, (mode & 0o111) === 0 ? 0o644 : 0o755);
}

/** A link that lies below another one would be written wherever that leads. */
async function makeLinks({ folder, links }: Unpacking): Promise<void> {
  const paths = new Set(links.map(({ path }) => path));
  for (const { path, to } of links) {
    const parents = path
      .split("/")
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    if (parents.some((parent) => paths.has(parent))) {
      throw new Failure("invalid", `the archive holds "${path}" below a link`);
    }
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(to, join(folder, path));
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
