import { formatDuration, durationForm, parseDuration } from "../../base/pure/duration.ts";
import { keepDefault } from "../../base/pure/keep.ts";
import { Failure, problemsFailure } from "../../base/wire/failure.ts";
import type { BackupTargetBody } from "../api/backups.ts";
import { keepWords } from "../core/restic-words.ts";
import { readSize } from "../core/size.ts";
import { checkCredentials, readTarget } from "../core/target.ts";
import type { StoredTarget } from "./records.ts";

/** Fails `invalid` for a folder in the server's own: what is there is lost with the server. */
export async function refuseOwn(url: string, isOurs: (folder: string) => Promise<boolean>): Promise<void> {
  if (!url.startsWith("/") || !(await isOurs(url))) return;
  const message = `"${url}" lies in the server's own folder, and is lost with it; name one on another disk`;
  throw problemsFailure([{ path: "url", message }]);
}

/** A target as it is stored. Fails `invalid` with the paths of its faults. */
export function readTargetBody(
  name: string | null,
  {
    url,
    credentials = {},
    every,
    keep = keepDefault,
    append_only: appendOnly,
    images,
    logs,
    max_size: maxSize,
  }: BackupTargetBody,
  { limits, now }: { limits: { everyMinMs: number; everyDefaultMs: number }; now: number },
): StoredTarget {
  if (name === null || !/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) {
    throw new Failure(
      "invalid",
      `"${name}" is not the name of a target; use 1 to 40 lower-case letters, digits and "-"`,
    );
  }
  at("url", () => checkCredentials(readTarget(url), credentials));
  at("keep", () => keepWords(keep));
  const maxBytes = maxSize === undefined ? undefined : readSize(maxSize);
  if (maxSize !== undefined && maxBytes === undefined)
    throw problemsFailure([{ path: "max_size", message: `"${maxSize}" is not a size; write it like 50GB` }]);
  const everyMs = every === undefined ? limits.everyDefaultMs : (parseDuration(every) ?? 0);
  if (everyMs < limits.everyMinMs) {
    const least = formatDuration(limits.everyMinMs);
    throw problemsFailure([
      { path: "every", message: `"${every}" is not a time of ${least} or more; ${durationForm}` },
    ]);
  }
  return {
    name,
    url,
    credentials,
    everyMs,
    keep,
    createdAt: now,
    appendOnly,
    images,
    logs,
    maxBytes,
    prunedAt: undefined,
  };
}

function at(path: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof Failure) throw problemsFailure([{ path, message: error.message }]);
    throw error;
  }
}
