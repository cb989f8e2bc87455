import { Failure } from "../../../base/wire/failure.ts";
import type { FileInfo } from "../../api/files.ts";
import { podNameOk } from "../../core/identity.ts";
import type { FileStat } from "../../engine/session.ts";
import type { ExecSession } from "../../engine/session.ts";
import type { Context } from "../state/context.ts";

/** A path of a pod, as the caller wrote it. */
export interface FilePlace {
  name: string;
  path: string | undefined;
}

/**
 * Files of pods, from and to which so many copies go at one time. All fail `invalid` for a bad path, `not_found` for a
 * missing container or path.
 */
export interface FileRoom {
  stat(place: FilePlace): Promise<FileInfo>;
  /** A tar archive. Fails `too_many`. */
  read(place: FilePlace, options: { actor: string; signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
  /** A copy in the shape of a command: what is written is the archive, the exit is its end. */
  write(place: FilePlace, options: { actor: string }): Promise<ExecSession>;
}

export function createFileRoom(context: Context): FileRoom {
  let copies = 0;
  const enter = () => {
    const { copiesMax } = context.limits;
    if (copies >= copiesMax) {
      throw new Failure("too_many", `${copiesMax} copies from and to pods go on already; try again later`);
    }
    copies += 1;
    let gone = false;
    return () => {
      if (!gone) copies -= 1;
      gone = true;
    };
  };
  return {
    async stat(place) {
      const { path, stat } = await find(context, place);
      return infoOf(path, stat);
    },
    async read(place, { actor, signal }) {
      const { path } = await find(context, place);
      const leave = enter();
      // A reader that leaves before the first part never starts it; it may have left already.
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      record(context, { ...place, actor, action: "pod.files.read" });
      const { engine, limits } = context;
      return bounded(engine.readFiles(engine.named(place.name), path, signal), limits.copyBytesMax, leave);
    },
    async write(place, { actor }) {
      const { path, stat } = await find(context, place);
      if (stat.kind !== "folder") throw new Failure("conflict", `"${path}" of ${place.name} is not a folder`);
      const leave = enter();
      record(context, { ...place, actor, action: "pod.files.write" });
      return writing(context, { name: place.name, folder: path, leave });
    },
  };
}

async function find(context: Context, { name, path: written }: FilePlace): Promise<{ path: string; stat: FileStat }> {
  const { engine, link } = context;
  if (!podNameOk(name)) throw new Failure("invalid", `bad pod name "${name}"`);
  const path = readPath(written);
  link.require();
  const pod = engine.named(name);
  if ((await engine.inspect(pod)) === undefined) throw new Failure("not_found", `no container "${name}"`);
  const stat = await engine.statFile(pod, path);
  if (stat === undefined) throw new Failure("not_found", `"${path}" does not exist in ${name}`);
  return { path, stat };
}

const pathCharactersMax = 4_096;

function readPath(path: string | undefined): string {
  if (path === undefined) throw new Failure("invalid", "query path: is required");
  if (!path.startsWith("/")) throw new Failure("invalid", `query path: "${path}" does not start with /`);
  if (path.includes("\0") || path.length > pathCharactersMax) {
    throw new Failure("invalid", `query path: has a NUL, or more than ${pathCharactersMax} characters`);
  }
  return path;
}

function infoOf(path: string, { kind, sizeBytes, mode, linkTarget }: FileStat): FileInfo {
  const link = linkTarget === undefined ? {} : { link_target: linkTarget };
  return { path, kind, size_bytes: sizeBytes, mode: mode.toString(8).padStart(3, "0"), ...link };
}

async function* bounded(
  parts: AsyncIterable<Uint8Array>,
  bytesMax: number,
  leave: () => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const part of parts) {
      bytes += part.length;
      if (bytes > bytesMax) throw new Failure("too_large", `a copy has at most ${bytesMax} bytes`);
      yield part;
    }
  } finally {
    leave();
  }
}

interface Writing {
  name: string;
  folder: string;
  leave: () => void;
}

function writing({ engine, limits, randomBytes }: Context, { name, folder, leave }: Writing): ExecSession {
  // A part is written once the engine has taken it.
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const archive = writable.getWriter();
  const left = new AbortController();
  const parts = bounded(readable, limits.copyBytesMax, () => undefined);
  const done = engine.writeFiles(engine.named(name), { folder, archive: parts, signal: left.signal }).finally(leave);
  // What is wrong is asked for at the end; until then it must not count as unhandled.
  done.catch(() => undefined);
  return {
    id: Buffer.from(randomBytes(8)).toString("hex"),
    output: nothing(),
    write: (bytes) => archive.write(bytes),
    endInput: () => void archive.close().catch(() => undefined),
    resize: async () => undefined,
    async exitCode() {
      await done;
      return 0;
    },
    async kill() {
      left.abort();
      await archive.abort().catch(() => undefined);
    },
  };
}

async function* nothing(): ExecSession["output"] {
  // Until the end there is nothing to say.
}

interface Copied extends FilePlace {
  actor: string;
  action: string;
}

function record(context: Context, { name, path, actor, action }: Copied): void {
  const key = context.pods.byName(name)?.key;
  const detail = { pod: name, path };
  context.store
    .write((tx) => tx.events.append({ actor, action, ...key, detail }, context.clock.now()))
    .catch((error: unknown) => context.log.error("event not written", { action, error }));
}
