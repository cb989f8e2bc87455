import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { serveOptions } from "../config/config.ts";
import { writeBackup } from "../base/disk/backup.ts";
import { markBackup } from "../base/disk/backup-mark.ts";
import { readKey } from "../base/disk/key-file.ts";
import { layoutOf } from "../base/disk/layout.ts";
import { CommandFailure, exitCodes } from "../client/basics/failures.ts";
import { Failure } from "../base/wire/failure.ts";
import { copyDatabase } from "../orchestration/store/copy.ts";
import { copiesBeside } from "./staging.ts";
import { readPassphrase } from "./passphrase.ts";
import { report, wantsJson } from "./report.ts";
import { sayNow } from "../client/basics/output.ts";

export const backupUsage = `berth backup /var/backups/berth.backup

usage: berth backup FILE [--force] [--root DIR] [--passphrase-file PATH] [-o json]

Writes the whole state (manifests, config, history, users of the identity service, tokens, alerts)
and its key into one file, with the server running or stopped. Figures and stored logs are not part
of it. Without a passphrase, everyone who has the file can read every config value: keep it as safe
as the server.

Copies outside of the machine, made by the server itself: berth backup target --help

  --force                  write over a FILE that is there already
  --root DIR               folder of all state (BERTH_ROOT, /opt/berth)
  --passphrase-file PATH   seal the backup with the first line of this file; - reads it from stdin`;

/** `berth backup FILE`: works beside a running server and without one. */
export async function backupCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      force: { type: "boolean" },
      root: { type: "string" },
      "passphrase-file": { type: "string" },
      output: { type: "string", short: "o" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  const [target, ...more] = positionals;
  if (values.help || target === undefined || more.length > 0) {
    sayNow(backupUsage);
    return values.help ? 0 : 2;
  }
  const json = wantsJson(values.output);
  checkFile(target, values.force === true);
  const layout = layoutOf(serveOptions(values.root === undefined ? {} : { root: values.root }).root);
  const key = await readKey(layout.key);
  if (key === undefined) throw new Failure("not_found", `no berth state under "${layout.root}": use --root`);
  const passphrase = await readPassphrase(values["passphrase-file"]);
  const now = Date.now();
  await writeBackup({
    copyDatabase: (copy) => copyDatabase(layout.database, copy),
    copyBeside: copiesBeside(layout),
    key,
    passphrase,
    target,
    now,
  });
  // The backup is there: if its time cannot be recorded, that is not a failure.
  await markBackup(layout, now).catch(() => undefined);
  const sealed = passphrase === undefined ? "not sealed: it holds the key, keep it safe" : "sealed with the passphrase";
  const data = { file: target, sealed: passphrase !== undefined };
  report({ json, data }, [`backup written to ${target} (${sealed})`]);
  return 0;
}

/** Fails where the backup cannot become this file. */
function checkFile(target: string, force: boolean): void {
  if (!/[/.]/.test(target)) {
    const words = "target, now, list, runs and key are commands";
    throw new CommandFailure(`"${target}" is not a file with its path (${words}); write ./${target}`, exitCodes.usage);
  }
  const there = statSync(target, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile())
    throw new CommandFailure(`"${target}" is not a regular file: name a file to write the backup to`);
  if (!force && there !== undefined) {
    const text = `"${target}" is there already: add --force to write over it; nothing was changed`;
    throw new CommandFailure(text, exitCodes.refused);
  }
  const folder = dirname(resolve(target));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandFailure(`"${folder}" is not a folder: make it first, or name a file in another one`);
  }
}
