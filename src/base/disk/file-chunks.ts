import type { FileHandle } from "node:fs/promises";

const chunkBytes = 1024 * 1024;

/** The bytes of a file from `start` to before `end`, in pieces; ends early where the file does. */
export async function* readChunks(file: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  let at = start;
  while (at < end) {
    const chunk = new Uint8Array(Math.min(chunkBytes, end - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** Writes all bytes where the file stands: one call of the system may take fewer. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}
