import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { Failure } from "../base/wire/failure.ts";
import { serveOptions } from "../config/config.ts";
import { type Layout, layoutOf } from "../base/disk/layout.ts";
import { makeFolders } from "../base/disk/root.ts";
import { writeAtomic } from "../base/disk/atomic-write.ts";
import { lastRestore } from "../base/disk/undo-restore.ts";
import type { Secret } from "../base/words/secret.ts";
import { CommandFailure } from "../client/basics/failures.ts";
import { confirmRestore } from "../orchestration/store/copy.ts";
import { lockHolder } from "../base/sqlite/lock.ts";
import { direct } from "../base/wire/outgoing.ts";
import { readPassphrase } from "./passphrase.ts";
import { layPending, pendingPath, pendingUndo, restoreNow, undoNow } from "./pending-restore.ts";
import { confirm } from "./server/confirm.ts";
import { thisMachine } from "./server/machine.ts";
import { report, wantsJson } from "./report.ts";
import { sayNow } from "../client/basics/output.ts";

export const restoreUsage = `berth restore /var/backups/berth.backup
berth restore --confirm
berth restore --undo

usage: berth restore FILE [--yes] [--root DIR] [--passphrase-file PATH] [-o json]
       berth restore --confirm [--root DIR] [-o json]
       berth restore --undo [--yes] [--root DIR] [-o json]

Replaces the state of the root with a backup. A running server switches over without stopping. The
previous state is kept as state.db.before-restore-<time>. Until berth restore --confirm, the server
keeps replicas running and answers requests. It removes no container of an app that the backup does
not know, runs no job, and sends nothing.

  --root DIR               folder of all state (BERTH_ROOT, /opt/berth)
  --passphrase-file PATH   what the backup was sealed with; - reads it from stdin
  --confirm                the restored state is right: remove containers that it does not know, run
                           jobs, send alerts
  --undo                   bring back the state that the last restore replaced
  --yes, -y                do not ask`;

/** `berth restore`: on a stopped server by itself, on a running one through it. `goesOn`: the caller says what comes next. */
export async function restoreCommand(args: string[], { goesOn = false } = {}): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      root: { type: "string" },
      "passphrase-file": { type: "string" },
      confirm: { type: "boolean" },
      undo: { type: "boolean" },
      yes: { type: "boolean", short: "y" },
      output: { type: "string", short: "o" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  const [file, ...more] = positionals;
  const asked = [values.confirm, values.undo, file !== undefined].filter((it) => it === true).length;
  if (values.help || asked !== 1 || more.length > 0) {
    sayNow(restoreUsage);
    return values.help ? 0 : 2;
  }
  const json = wantsJson(values.output);
  const layout = layoutOf(serveOptions(values.root === undefined ? {} : { root: values.root }).root);
  const yes = values.yes === true;
  if (file !== undefined) {
    if (!existsSync(file)) throw new CommandFailure(`"${file}" does not exist; nothing was changed`);
    askFirst(`replace the state in ${layout.root} with the backup ${file}?`, yes);
    const { data, lines } = await restore(layout, file, await readPassphrase(values["passphrase-file"]));
    report({ json, data }, goesOn ? lines : [...lines, lookAtIt(layout, values.root)]);
  } else {
    const { data, lines } = values.undo ? await undo(layout, yes) : confirmed(layout);
    report({ json, data }, lines);
  }
  return 0;
}

function askFirst(question: string, yes: boolean): void {
  confirm(thisMachine, `${question} What is there now is kept.`, yes);
}

interface Outcome {
  data: Record<string, unknown>;
  lines: string[];
}

async function undo(layout: Layout, yes: boolean): Promise<Outcome> {
  const last = await lastRestore(layout);
  if (last === undefined) throw new Failure("not_found", `nothing to undo: nothing was restored in "${layout.root}"`);
  askFirst(`bring back the state in ${layout.root} from before the restore of ${last}?`, yes);
  const pid = lockHolder(layout.lock);
  if (pid === undefined) await undoNow(layout);
  else {
    await writeAtomic(pendingUndo(layout), "", 0o600);
    process.kill(pid, "SIGHUP");
    await undone(layout, pid, last);
  }
  return { data: { undone: last }, lines: [`the state from before the restore of ${last} is back`] };
}

/** Until the server has taken up the wish and answers again. */
async function undone(layout: Layout, pid: number, last: string): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    await Bun.sleep(100);
    if (existsSync(pendingUndo(layout)) || (await collectionHeld(layout)) === undefined) continue;
    if ((await lastRestore(layout)) !== last) return;
    break;
  }
  throw new Failure("conflict", `the running server (pid ${pid}) did not undo the restore; its log says why`);
}

function confirmed(layout: Layout): Outcome {
  if (!existsSync(layout.database))
    throw new Failure("not_found", `there is no state of a server in "${layout.root}": name its folder with --root`);
  const isConfirmed = confirmRestore(layout.database);
  const text = "confirmed: the server removes containers that this state does not know, runs jobs and sends alerts";
  return { data: { confirmed: isConfirmed }, lines: [isConfirmed ? text : "nothing to confirm"] };
}

/** If the root had to be named, the next commands must not reach another one. `isWhole`: no volume is missing. */
export function lookAtIt({ socket, lock }: Layout, root: string | undefined, isWhole = false): string {
  const first = lockHolder(lock) === undefined ? "start the server, then look" : "look";
  const [there, same] = root === undefined ? ["", ""] : [` --endpoint unix:${socket}`, ` --root ${root}`];
  const bring = isWhole ? "" : `bring volumes that are missing back with berth backup restore --all${there}, `;
  return (
    `${first} at it with berth get all${there}, ${bring}` +
    `then run berth restore --confirm${same}; to go back: berth restore --undo${same}`
  );
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
  const { createdAt, previous, previousBeside } = await restoreNow(layout, { file, passphrase });
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
    const answer = await direct("http://localhost/system", { unix: layout.socket });
    const body: unknown = await answer.json();
    const held = /"collection_held":true/.test(JSON.stringify(body));
    return answer.ok ? held : undefined;
  } catch {
    return undefined;
  }
}
