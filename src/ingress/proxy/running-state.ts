import { access, readFile } from "node:fs/promises";
import type { Paths, ProxyFile, Running } from "../core/change.ts";
import { certificatePath } from "../core/layout.ts";
import type { Certificate } from "../core/table.ts";

/** What the proxy was last told, on disk, so that the next server goes on from there. It may hold hashes of passwords. */
export function stateFile(paths: Paths, running: Running): ProxyFile {
  // The keys are in files of their own already.
  const certificates = running.table.certificates.map(({ id, names }) => ({ id, names }));
  const state = { format, assignment: running.assignment, table: { ...running.table, certificates } };
  return { path: statePath(paths), content: `${JSON.stringify(state)}\n`, mode: 0o600 };
}

/** Raised when older states cannot be read any more; the proxy then loads everything anew, without losing a request. */
const format = 1;

/** Undefined when there is none that can be used. */
export async function readState(paths: Paths): Promise<Running | undefined> {
  try {
    const { format: found, assignment, table } = JSON.parse(await readFile(statePath(paths), "utf8"));
    if (found !== format) return undefined;
    const listed: Pick<Certificate, "id" | "names">[] = table.certificates;
    const certificates = await Promise.all(
      listed.map(async ({ id, names }) => ({ id, names, pem: await readFile(certificatePath(paths, id), "utf8") })),
    );
    const state = { assignment, table: { ...table, certificates } };
    return (await exists(unfinishedFile(paths).path)) ? unsure(state) : state;
  } catch {
    return undefined;
  }
}

/** Exists while the proxy is told a change. A server that ends meanwhile leaves it for the next one. */
export function unfinishedFile({ folder }: Paths): ProxyFile {
  return { path: `${folder}/unfinished`, content: "", mode: 0o600 };
}

/** The state of a proxy that may have heard only a part of it: the next change loads the files. */
export function unsure({ table, assignment }: Running): Running {
  return { table, assignment: { ...assignment, loaded: {} } };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function statePath(paths: Paths): string {
  return `${paths.folder}/state.json`;
}
