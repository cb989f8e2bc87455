import { isFields } from "../../base/pure/fields.ts";
import type { Entry } from "./entry.ts";
import { readEnvFile } from "./env-file.ts";
import type { Fault, Span } from "./source.ts";

/** Text of a file named inside an entry's file; throws an Error with a text for the operator. */
type ReadText = (entry: Entry, path: string) => string;

/**
 * Merges the files of `env_file` into `env` (later files win, what is written inline wins over all) and removes the
 * field: the server never sees the paths. Cron jobs carry theirs in `spec.job`.
 */
export function mergeEnvFiles(entry: Entry, readText: ReadText, faults: Fault[]): void {
  const spec = entry.manifest.spec;
  if (!isFields(spec)) return;
  mergeInto({ holder: spec, path: "spec", entry }, readText, faults);
  if (isFields(spec.job)) mergeInto({ holder: spec.job, path: "spec.job", entry }, readText, faults);
}

interface Holder {
  holder: Record<string, unknown>;
  path: string;
  entry: Entry;
}

function mergeInto({ holder, path, entry }: Holder, readText: ReadText, faults: Fault[]): void {
  const listed = holder.env_file;
  if (listed === undefined) return;
  const at = `${path}.env_file`;
  const paths = Array.isArray(listed) ? listed : [listed];
  const merged: Record<string, string>[] = paths.map((file: unknown, index) => {
    const span = placeSpan(entry, Array.isArray(listed) ? `${at}[${index}]` : at);
    return readOne({ file, span }, (name) => readText(entry, name), faults);
  });
  delete holder.env_file;
  const inline = holder.env ?? {};
  if (isFields(inline)) holder.env = Object.assign({}, ...merged, inline);
}

function readOne(
  { file, span }: { file: unknown; span: Span },
  readText: (path: string) => string,
  faults: Fault[],
): Record<string, string> {
  if (typeof file !== "string" || file === "") {
    faults.push({ span, message: "env_file is a path or a list of paths" });
    return {};
  }
  try {
    return readEnvFile({ name: file, text: readText(file) }, faults);
  } catch (error) {
    faults.push({ span, message: error instanceof Error ? error.message : String(error) });
    return {};
  }
}

function placeSpan(entry: Entry, path: string): Span {
  return entry.places.get(path)?.value ?? { source: entry.file, start: 0, end: 0 };
}
