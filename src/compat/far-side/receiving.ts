import { isFields } from "../../base/pure/fields.ts";
import { Failure } from "../../base/wire/failure.ts";
import { nameOk, scopeOk } from "../../orchestration/core/identity.ts";
import { procfileManifests } from "./procfile.ts";
import type { Written } from "./words.ts";

/** Source that comes on stdin, as a gzipped tar of the folder that is built from. */
export type Receiving =
  | {
      what: "app";
      scope: string;
      name: string;
      force: boolean;
      /** The spec of the manifest, which is yet to be applied; undefined: what is stored counts. */
      spec: Record<string, unknown> | undefined;
    }
  | { what: "procfile"; scope: string; force: boolean };

/** Words of `receive-pack`. */
export function readReceive(written: Written): Receiving {
  const force = written.on("--force");
  const procfile = written.value("--procfile");
  const [reference, ...more] = written.words;
  if (procfile !== undefined) {
    if (reference !== undefined) throw new Failure("invalid", `--procfile and ${reference} exclude each other`);
    if (!scopeOk(procfile)) throw new Failure("invalid", `--procfile: "${procfile}" is not a scope`);
    return { what: "procfile", scope: procfile, force };
  }
  const [scope = "", name = "", rest] = (reference ?? "").split("/");
  if (more.length > 0 || rest !== undefined || !scopeOk(scope) || !nameOk(name))
    throw new Failure("invalid", "receive-pack takes one SCOPE/NAME, and the packed source on stdin");
  return { what: "app", scope, name, force, spec: readSpec(written.value("--spec")) };
}

function readSpec(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const spec: unknown = JSON.parse(Buffer.from(text, "base64").toString());
    if (isFields(spec)) return spec;
  } catch {
    // Told below: neither text nor parser says more.
  }
  throw new Failure("invalid", "--spec is not an object as JSON in base64");
}

/** What berth builds: the folder `tree` beside the manifest, as the spec of the app says. */
export function buildManifest({ scope, name }: { scope: string; name: string }, spec: object | undefined): object {
  const { build } = { build: undefined, ...spec };
  const { id: _, ...said } = isFields(build) ? build : { id: undefined };
  return { kind: "deployment", scope, name, spec: { build: { ...given(said), context: "tree" } } };
}

/** Without what is empty: that client writes every field. */
function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([key, value]): [string, unknown][] => {
    if (value === "" || value === null || value === undefined) return [];
    const inner = isFields(value) ? given(value) : value;
    return isFields(inner) && Object.keys(inner).length === 0 ? [] : [[key, inner]];
  });
  return Object.fromEntries(entries);
}

/** What a folder with a Procfile declares. `read` answers with the text of a file of the folder. */
export function procfileOf(
  { scope }: { scope: string },
  { prefix, read }: { prefix: string; read: (path: string) => string | undefined },
): object[] {
  const text = read("Procfile");
  if (text === undefined) throw new Failure("invalid", "the source has no Procfile");
  return procfileManifests({ scope, text, app: read(`.${prefix}/app.json`) });
}
