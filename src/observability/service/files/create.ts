import { ApiError } from "../../../base/wire/client.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { FileInfo } from "../../../orchestration/api/files.ts";
import type { listFolder, writePodFile } from "../../api/files.ts";
import { type Listing, listCommand, readListing } from "../../core/files/listing.ts";
import { splitPath } from "../../core/files/paths.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";
import type { PodSession } from "../platform.ts";
import type { Pods } from "../pods/create.ts";
import type { Streams } from "../streams.ts";
import { archiveOf, fileIn, listingIn } from "./archive.ts";

/** Whose files: a path of a pod, as `readPath` returns it. */
export interface FilePlace {
  grant: Grant;
  actor: string;
  pod: string;
  path: string;
}

/** A part of a file on its way to the client. */
export interface FilePart {
  name: string;
  /** How many bytes follow; the file has `sizeBytes`. */
  length: number;
  sizeBytes: number;
  content: AsyncIterable<Uint8Array>;
}

/** Files of containers, read and written as `berth cp` does. What a token may not reach does not exist for it. */
export interface PodFiles {
  /** Fails `not_found`, `conflict` for what is not a folder. */
  list(place: FilePlace): Promise<DataOf<typeof listFolder>>;
  /** Fails `not_found`, `conflict` for what is not a file, `too_large`. */
  read(place: FilePlace, part: { offset: number; length?: number | undefined; left: AbortSignal }): Promise<FilePart>;
  /** Writes exactly `length` bytes. Fails `not_found` without the folder, `conflict` where a folder has the name, `too_large`. */
  write(place: FilePlace, content: AsyncIterable<Uint8Array>, length: number): Promise<DataOf<typeof writePodFile>>;
}

type Context = Pick<ObservabilityContext, "platform" | "limits" | "clock" | "log">;

export function createPodFiles(
  context: Context,
  { pods, streams }: { pods: Pick<Pods, "get">; streams: Streams },
): PodFiles {
  const { platform, limits } = context;
  const { inside } = platform;
  const { bytesMax } = limits.files;
  const reach = ({ grant, pod }: FilePlace) => pods.get(grant, pod);
  /** A link stands for what it leads to in the end. */
  const find = async (pod: string, path: string): Promise<FileInfo> => {
    const info = await inside.stat(pod, path);
    const { kind, link_target: target } = info;
    return kind === "link" && target !== undefined ? inside.stat(pod, target) : info;
  };
  return {
    async list(place) {
      await reach(place);
      const { path, kind } = await find(place.pod, place.path);
      if (kind !== "folder") throw notA("folder", place);
      const listing = (await listByShell(context, place.pod, path)) ?? (await listByArchive(context, place, path));
      return { path: place.path, entries: listing.entries, left_out: listing.leftOut };
    },
    async read(place, { offset, length, left }) {
      const stream = streams.open(place.grant, left);
      try {
        await reach(place);
        const { path, kind, size_bytes: size } = await find(place.pod, place.path);
        if (kind !== "file") throw notA("file", place);
        const wanted = Math.min(length ?? Number.POSITIVE_INFINITY, Math.max(size - offset, 0));
        if (wanted > bytesMax) throw tooLarge(place.path, wanted, bytesMax);
        const file = await fileIn(await inside.read(place.pod, path, { actor: place.actor, signal: stream.signal }));
        if (file === undefined) throw notA("file", place);
        // What the archive says counts: the file may have changed since it was looked at.
        const there = Math.min(wanted, Math.max(file.sizeBytes - offset, 0));
        const content = partOf(file.content, { offset, length: there, signal: stream.signal, close: stream.close });
        return { name: splitPath(place.path).name, length: there, sizeBytes: file.sizeBytes, content };
      } catch (error) {
        stream.close();
        throw error;
      }
    },
    async write(place, content, length) {
      if (length > bytesMax) throw tooLarge(place.path, length, bytesMax);
      const stream = streams.open(place.grant);
      try {
        await reach(place);
        const { path, mode } = await target(find, place);
        const { folder, name } = splitPath(path);
        const head = { name, sizeBytes: length, mode, modifiedAt: context.clock.now() };
        const session = await inside.write(place.pod, folder, { actor: place.actor });
        await copyInto(session, archiveOf(head, content), stream.signal);
        return { path, size_bytes: length };
      } finally {
        stream.close();
      }
    },
  };
}

/** Ends with the token. The engine unpacks as it reads, so that a copy that breaks off leaves a part of the file. */
async function copyInto(session: PodSession, archive: AsyncIterable<Uint8Array>, ended: AbortSignal): Promise<void> {
  const stop = () => void session.kill().catch(() => undefined);
  ended.addEventListener("abort", stop, { once: true });
  try {
    for await (const part of archive) {
      if (ended.aborted) throw new Failure("unavailable", "the token has ended, and the copy with it");
      await session.write(part);
    }
    session.endInput();
    await session.exitCode();
  } catch (error) {
    await session.kill();
    throw error;
  } finally {
    ended.removeEventListener("abort", stop);
  }
}

/** Where a file is written: a link stays, and what it leads to is replaced; a file that is there keeps its mode. */
async function target(
  find: (pod: string, path: string) => Promise<FileInfo>,
  { pod, path }: FilePlace,
): Promise<{ path: string; mode: number }> {
  const { folder, name } = splitPath(path);
  if (name === "") throw new Failure("invalid", "query path: / is a folder; name a file in it");
  const there = await find(pod, path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (there?.kind === "folder" || there?.kind === "other") {
    throw new Failure("conflict", `${JSON.stringify(path)} of ${pod} is a ${there.kind}, which a file cannot replace`);
  }
  if (there !== undefined) return { path: there.path, mode: Number.parseInt(there.mode, 8) };
  const parent = await find(pod, folder);
  if (parent.kind !== "folder") throw new Failure("conflict", `${JSON.stringify(folder)} of ${pod} is not a folder`);
  return { path: `${parent.path === "/" ? "" : parent.path}/${name}`, mode: 0o644 };
}

function isMissing(error: unknown): boolean {
  if (error instanceof Failure) return error.code === "not_found";
  return error instanceof ApiError && error.status === 404;
}

/** Undefined where the container has no shell, or its programs print something else. */
async function listByShell(context: Context, pod: string, path: string): Promise<Listing | undefined> {
  const { platform, limits, clock, log } = context;
  const { entriesMax, listMs, listBytesMax } = limits.files;
  try {
    const session = await platform.inside.look(pod, listCommand(path, entriesMax));
    const over = new AbortController();
    void clock.sleep(listMs, over.signal).then(() => (over.signal.aborted ? undefined : session.kill()));
    try {
      const parts: Uint8Array[] = [];
      let bytes = 0;
      for await (const { stream, bytes: part } of session.output) {
        bytes += part.length;
        if (bytes > listBytesMax) {
          await session.kill();
          return undefined;
        }
        if (stream === "stdout") parts.push(part);
      }
      return (await session.exitCode()) === 0 ? readListing(Buffer.concat(parts)) : undefined;
    } finally {
      over.abort();
    }
  } catch (error) {
    log.debug("no listing by shell", { pod, error });
    return undefined;
  }
}

async function listByArchive({ platform, limits }: Context, place: FilePlace, path: string): Promise<Listing> {
  const stop = new AbortController();
  try {
    const archive = await platform.inside.read(place.pod, path, { actor: place.actor, signal: stop.signal });
    const listing = await listingIn(archive, limits.files);
    if (listing !== undefined) return listing;
  } finally {
    stop.abort();
  }
  throw new Failure(
    "conflict",
    `${place.pod} has no shell that could list ${JSON.stringify(place.path)}, and the folder is too large to be read whole; list one further down`,
  );
}

interface Part {
  offset: number;
  length: number;
  signal: AbortSignal;
  close: () => void;
}

async function* partOf(content: AsyncIterable<Uint8Array>, { offset, length, signal, close }: Part) {
  let skip = offset;
  let rest = length;
  try {
    if (rest === 0) return;
    for await (const bytes of content) {
      if (signal.aborted) throw new Failure("unavailable", "the token has ended");
      const part = bytes.subarray(skip, skip + rest);
      skip = Math.max(skip - bytes.length, 0);
      rest -= part.length;
      if (part.length > 0) yield part;
      if (rest === 0) return;
    }
  } finally {
    close();
  }
}

function notA(kind: "file" | "folder", { pod, path }: FilePlace): Failure {
  return new Failure("conflict", `${JSON.stringify(path)} of ${pod} is not a ${kind}`);
}

function tooLarge(path: string, bytes: number, max: number): Failure {
  const hint = "use berth cp, or ask for a part with offset and length";
  return new Failure(
    "too_large",
    `${JSON.stringify(path)} has ${bytes} bytes, and at most ${max} go in one request: ${hint}`,
  );
}
