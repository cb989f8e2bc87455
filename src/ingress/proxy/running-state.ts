import { readFile } from "node:fs/promises";
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
    return { assignment, table: { ...table, certificates } };
  } catch {
    return undefined;
  }
}

function statePath(paths: Paths): string {
  return `${paths.folder}/state.json`;
}
