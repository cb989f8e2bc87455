import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { Failure } from "../base/wire/failure.ts";
import { serveOptions } from "../config/config.ts";
import { type Layout, layoutOf } from "../base/disk/layout.ts";
import { makeFolders } from "../base/disk/root.ts";
import type { Secret } from "../base/words/secret.ts";
import { confirmRestore } from "../orchestration/store/copy.ts";
import { lockHolder } from "../base/sqlite/lock.ts";
import { readPassphrase } from "./passphrase.ts";
import { layPending, pendingPath, restoreNow } from "./pending-restore.ts";
import { report, wantsJson } from "./report.ts";

export const restoreUsage = `berth restore /var/backups/berth.backup
berth restore --confirm

usage: berth restore FILE [--root DIR] [--passphrase-file PATH] [-o json]
       berth restore --confirm [--root DIR] [-o json]

Replaces the state of the root with a backup. A running server switches over without stopping. The previous state is
kept as state.db.before-restore-<time>. The server removes no containers until berth restore --confirm.

  --root DIR               folder of all state (BERTH_ROOT, /opt/berth)
  --passphrase-file PATH   what the backup was sealed with; - reads it from stdin
  --confirm                the restored state is right: remove containers that it does not know`;

/** `berth restore`: on a stopped server by itself, on a running one through it. */
export async function restoreCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      root: { type: "string" },
      "passphrase-file": { type: "string" },
      confirm: { type: "boolean" },
      output: { type: "string", short: "o" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  const [file, ...more] = positionals;
  const wellFormed = values.confirm ? file === undefined : file !== undefined && more.length === 0;
  if (values.help || !wellFormed) {
    process.stdout.write(`${restoreUsage}\n`);
    return values.help ? 0 : 2;
  }
  const json = wantsJson(values.output);
  const layout = layoutOf(serveOptions(values.root === undefined ? {} : { root: values.root }).root);
  const { data, lines } =
    file === undefined ? confirm(layout) : await restore(layout, file, await readPassphrase(values["passphrase-file"]));
  report({ json, data }, file === undefined ? lines : [...lines, lookAtIt(layout, values.root)]);
  return 0;
}

interface Outcome {
  data: Record<string, unknown>;
  lines: string[];
}

function confirm(layout: Layout): Outcome {
  const confirmed = confirmRestore(layout.database);
  const text = "confirmed: containers that the restored state does not know will be removed";
  return { data: { confirmed }, lines: [confirmed ? text : "nothing to confirm"] };
}

/** Of a root that had to be named, the next commands must not reach another one. */
function lookAtIt({ socket }: Layout, root: string | undefined): string {
  const [there, same] = root === undefined ? ["", ""] : [` --endpoint unix:${socket}`, ` --root ${root}`];
  return `look at it with berth get all${there}, then run berth restore --confirm${same}`;
}

async function restore(layout: Layout, file: string, passphrase: Secret | undefined): Promise<Outcome> {
  await makeFolders(layout);
  const pid = lockHolder(layout.lock);
  if (pid !== undefined) {
    await layPending(layout, file, passphrase);
    process.kill(pid, "SIGHUP");
    await takenUp(layout, pid);
    return { data: { server_pid: pid }, lines: [`the running server (pid ${pid}) has taken up the backup`] };
  }
  const { createdAt, previous, previousBeside } = await restoreNow(layout, file, passphrase);
  const at = new Date(createdAt).toISOString();
  const kept = [previous, ...Object.values(previousBeside)]
    .flatMap((path) => path ?? [])
    .map((path) => `what was there is kept as ${path}`);
  return {
    data: {
      backup_of: at,
      ...(previous === undefined ? {} : { previous }),
      ...Object.fromEntries(Object.entries(previousBeside).map(([name, path]) => [`previous_${name}`, path])),
    },
    lines: [`restored the state of ${at}`, ...kept],
  };
}

const patienceMs = 60_000;

/** Until the server has swallowed the file, answers again, and holds collection: only a restored store does. */
async function takenUp(layout: Layout, pid: number): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    await Bun.sleep(100);
    if (existsSync(pendingPath(layout))) continue;
    const held = await collectionHeld(layout);
    if (held === true) return;
    if (held === false) break;
  }
  throw new Failure("conflict", `the running server (pid ${pid}) did not take up the backup; its log says why`);
}

/** Undefined while the server does not answer. */
async function collectionHeld(layout: Layout): Promise<boolean | undefined> {
  try {
    const answer = await fetch("http://localhost/system", { unix: layout.socket });
    const body: unknown = await answer.json();
    const held = /"collection_held":true/.test(JSON.stringify(body));
    return answer.ok ? held : undefined;
  } catch {
    return undefined;
  }
}
