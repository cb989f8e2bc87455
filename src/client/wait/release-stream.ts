import { readAnswer } from "../../base/wire/client.ts";
import { runRelease } from "../../orchestration/api/releases.ts";
import type { Context } from "../shell/command.ts";
import { unbroken } from "../basics/unbroken.ts";

interface ReleaseReading {
  scope: string | undefined;
  name: string;
  /** Follows the release that is under way, instead of a new one. */
  follow: boolean;
  signal?: AbortSignal;
  onBytes: (bytes: Uint8Array) => void | Promise<void>;
}

/** What the last line of a release says. */
export interface ReleaseEnd {
  id: string;
  succeeded: boolean;
  /** `succeeded`, or `failed …` with the reason. */
  text: string;
}

/**
 * Hands on what a release prints, as it comes, to the end; undefined when the stream breaks off before the last line.
 * Fails with `ApiError` when the server refuses.
 */
export async function readRelease(context: Context, reading: ReleaseReading): Promise<ReleaseEnd | undefined> {
  const { scope, name, follow, signal, onBytes } = reading;
  const response = await context.streams.raw(runRelease, {
    query: { scope, name, follow: follow ? "true" : undefined },
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) return void readAnswer(runRelease, response.status, await response.text());
  const decoder = new TextDecoder();
  let tail = "";
  for await (const bytes of unbroken(response.body)) {
    await onBytes(bytes);
    tail = (tail + decoder.decode(bytes, { stream: true })).slice(-tailMax);
  }
  return releaseEnd(tail);
}

/** Longer than any last line. */
const tailMax = 16 * 1024;

/** Only an exact last line counts: a program may print anything. */
function releaseEnd(text: string): ReleaseEnd | undefined {
  const last = text.slice(text.lastIndexOf("\n", text.length - 2) + 1);
  const [, id, outcome] = /^-----> Release ([0-9a-z]{9}) (succeeded|failed.*)\n$/.exec(last) ?? [];
  return id === undefined || outcome === undefined
    ? undefined
    : { id, succeeded: outcome === "succeeded", text: outcome };
}
