import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Generation, newestGeneration } from "../../backups/core/generation.ts";
import { readRecoveryKey } from "../../backups/core/recovery-key.ts";
import { checkCredentials, type Credentials, readTarget } from "../../backups/core/target.ts";
import { createRestic } from "../../backups/restic/restic.ts";
import { stateTag } from "../../backups/core/subject.ts";
import type { StoredLife } from "../../backups/service/life.ts";
import { serverHost } from "../../backups/service/locks.ts";
import { createRepository, type Repository } from "../../backups/service/repository.ts";
import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure } from "../../base/wire/failure.ts";
import { backupLimits } from "../../config/backup-limits.ts";
import { serveOptions } from "../../config/config.ts";
import { readLifeFile, writeLifeFile } from "../../base/disk/life-file.ts";
import { makeFolders } from "../../base/disk/root.ts";
import { type Layout, layoutOf } from "../../base/disk/layout.ts";
import { CommandFailure } from "../../client/basics/failures.ts";
import { readPassphrase } from "../passphrase.ts";
import { restoreCommand } from "../restore.ts";
import { copiesFile, type KnownCopies, stateFile } from "../staging.ts";
import { confirm } from "./confirm.ts";
import { noteCopy, notedCopy } from "../../orchestration/store/copy.ts";
import { requireRoot, thisMachine } from "./machine.ts";
import { limitOf, partLines, restoreLogs, restoreParts } from "./restore-parts.ts";
import { restoreRest, type RunClient, stopwatch } from "./restore-rest.ts";
import { installedWords } from "./systemd.ts";

export const restoreFromUsage = `berth server restore --all --from s3://s3.eu-central-1.amazonaws.com/my-bucket \\
  --key-file key.txt --key-id AKIA1 --secret-file secret-key.txt

usage: berth server restore --from WHERE --key-file FILE [--all] [--logs] [--at TIME]
         [--key-id ID | --user NAME] [--secret-file FILE] [--practice] [-y] [--root DIR]

Brings the state of a lost server back from its copies, and the repositories of git push: on a new
machine, after install.sh. What is there now is kept, as berth restore keeps it. Needs root and
restic. The server that made the copies makes no more, runs no cron jobs and sends no webhooks and
mails once it has reached the target.

  --from WHERE        the target, as berth backup target add got it
  --all               also start the server and bring back volumes and databases, with the time of
                      each; after an interruption, the same command goes on
  --logs              also bring back stored logs, metrics and traces; the next start of the server
                      takes them up, and keeps what was there
  --key-file FILE     the recovery key, as berth backup key printed it; - reads it from stdin
  --at TIME           the newest copy of this time or before, like 2026-11-28T14:05:00Z (the newest)
  --key-id ID         of s3: id of the access key
  --user NAME         of rest: user
  --secret-file FILE  the access key or password
  --practice          the server that made the copies goes on: what is restored never acts by itself
  --root DIR          folder of all state (BERTH_ROOT, /opt/berth)
  -y, --yes           do not ask`;

const options = {
  from: { type: "string" },
  "key-file": { type: "string" },
  all: { type: "boolean" },
  logs: { type: "boolean" },
  at: { type: "string" },
  "key-id": { type: "string" },
  user: { type: "string" },
  "secret-file": { type: "string" },
  root: { type: "string" },
  practice: { type: "boolean" },
  yes: { type: "boolean", short: "y" },
} as const;

/** `berth server restore --from`: the copy is fetched and verified by restic, and goes the way of every other backup. */
export async function restoreFromCommand(args: string[], client: RunClient): Promise<number> {
  const { values } = parseArgs({ args, options });
  const { from, "key-file": keyFile, at, root } = values;
  if (from === undefined || keyFile === undefined) {
    throw new CommandFailure("write where the copies are and what opens them: --from WHERE --key-file FILE", 2);
  }
  requireRoot("berth server restore");
  const { installation, text } = readRecoveryKey((await readPassphrase(keyFile, "recovery key"))?.reveal() ?? "");
  const credentials = await credentialsOf(values);
  checkCredentials(readTarget(from), credentials);
  const layout = layoutOf(serveOptions(root === undefined ? {} : { root }).root);
  const isWhole = await restoreState(layout, {
    values,
    from,
    source: { url: from, installation, password: text, credentials },
  });
  if (values.practice && !values.all)
    thisMachine.say(
      `this was practice, and needs no confirm: what came back is in ${layout.root}; remove it afterwards`,
    );
  if (values.all !== true) return isWhole ? 0 : 1;
  const time = at === undefined ? undefined : isoTime(Date.parse(at));
  const service = installedWords();
  const code = await restoreRest({ machine: thisMachine, service, client, layout, root, from, at: time });
  return code === 0 && !isWhole ? 1 : code;
}

interface Asked {
  values: {
    at?: string | undefined;
    root?: string | undefined;
    all?: boolean;
    logs?: boolean;
    practice?: boolean;
    yes?: boolean;
  };
  from: string;
  source: Parameters<typeof createRepository>[1];
}

/**
 * The state of the copy takes the place of what is there, unless an earlier run has put it there and it was not confirmed since.
 * Resolves with whether what the server held beside it is back, too.
 */
async function restoreState(layout: Layout, { values, from, source }: Asked): Promise<boolean> {
  const { at, root } = values;
  const folder = await mkdtemp(join(tmpdir(), "berth-restore."));
  const stopping = new AbortController();
  // The copy lies there unsealed, and must not stay: what ends the command ends restic, and then the folder goes.
  const stop = () => stopping.abort();
  for (const signal of signals) process.on(signal, stop);
  try {
    const life = randomBytes(8).toString("hex");
    const restic = createRestic(join(folder, "cache"), backupLimits, () => serverHost(life));
    await restic.version();
    const repository = createRepository(restic, source, backupLimits);
    const snapshots = await listed(repository, source, stopping.signal);
    const chosen = choose(snapshots, at);
    const held = { repository, snapshots, layout, limit: limitOf(at), signal: stopping.signal };
    const logs = async () => void (values.logs && (await restoreLogs(held)));
    const copy = `the copy of ${isoTime(chosen.at)}`;
    for (const line of partLines(snapshots, { stateAt: chosen.at, at, logs: values.logs })) thisMachine.say(line);
    if (values.all && copyIn(layout, values.practice) === chosen.id) {
      thisMachine.say(`${copy} is in ${layout.root} already: going on with what is missing`);
      await logs();
      return await restoreParts(held);
    }
    // Asked before anything of it is here.
    const asked = `replace the state in ${layout.root} with ${copy}? What is there now is kept.`;
    confirm(
      thisMachine,
      `${asked}${values.all ? ` ${restNote}` : ""} ${outcomeOf(values.practice)}`,
      values.yes === true,
    );
    const took = stopwatch();
    thisMachine.say(`fetching ${copy}`);
    await repository.restore(chosen.id, join(folder, "state"), stopping.signal);
    for (const line of await missingLines(join(folder, "state", copiesFile), { from, chosen, snapshots }))
      thisMachine.say(line);
    await takePlace(layout, repository, { life, practice: values.practice, newest: newestGeneration(snapshots) });
    // A server that runs takes them up with the state.
    await logs();
    const file = join(folder, "state", stateFile);
    const goesOn = values.all === true || values.practice === true;
    await restoreCommand([file, "--yes", ...(root === undefined ? [] : ["--root", root])], { goesOn });
    if (goesOn) thisMachine.say(`state, ${took()}`);
    const isWhole = await restoreParts(held);
    noteCopy(layout.database, chosen.id);
    return isWhole;
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is there, or why there is nothing: who asks has only the key and an address, and can add no target. */
function listed(repository: Repository, { url, installation }: Asked["source"], signal: AbortSignal) {
  return repository.snapshots(signal).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
    const why = `there is no "${installation}" at ${url}, and the recovery key names that; is it mounted?`;
    const wayOut =
      "If so, give the address that berth backup target add got, and the key that begins with the name of a folder there";
    throw new Failure("not_found", `it holds no copies of this server: ${why} ${wayOut}`);
  });
}

const restNote = "The server is started, and volumes and databases that are missing come back.";

/** The copy that an earlier run has put there for the same purpose; a state that cannot be read is replaced. */
function copyIn(layout: Layout, practice = false): string | undefined {
  const isSame = (readLifeFile<StoredLife>(layout)?.practice ?? false) === practice;
  try {
    return isSame && existsSync(layout.database) ? notedCopy(layout.database) : undefined;
  } catch {
    return undefined;
  }
}

const outcomeOf = (practice: boolean | undefined) =>
  practice
    ? "The server that made the copies goes on; what is restored never acts by itself."
    : "The server that made the copies stops acting once it reaches the target.";

/**
 * The root becomes the server that acts for the installation, before it has the state: two never act at one time. Where the
 * other server has locked the target, the new one writes its generation there later, and does not act before.
 */
async function takePlace(
  layout: Layout,
  repository: Repository,
  { life, practice, newest }: { life: string; practice: boolean | undefined; newest: Generation | undefined },
): Promise<void> {
  const number = (newest?.number ?? 0) + 1;
  await makeFolders(layout);
  if (practice) return writeLifeFile<StoredLife>(layout, { life, number: 0, practice });
  const unseen = await repository.mark({ life, number }).then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof Failure) || error.reason !== "Locked") throw error;
      thisMachine.say(`${error.message}; until then, the new server makes no copies there and does not act`);
      return true;
    },
  );
  await writeLifeFile<StoredLife>(layout, { life, number, unseen, takenOverAt: Date.now() });
}

/**
 * What the copy says about the copies before it, against what the target lists: those of the hour before it, which no server removes
 * by itself.
 */
async function missingLines(
  path: string,
  { from, chosen, snapshots }: { from: string; chosen: { at: number }; snapshots: readonly { id: string }[] },
): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "{}");
  const lists = JSON.parse(text) as KnownCopies;
  const there = new Set(snapshots.map(({ id }) => id));
  const missing = (lists[from] ?? []).filter(({ id, at }) => at > chosen.at - hourMs && !there.has(id));
  if (missing.length === 0) return [];
  const count = missing.length === 1 ? "1 copy" : `${missing.length} copies`;
  return [
    `warning: ${count} of the hour before it, which the server had made, is missing at the target: somebody removed it`,
  ];
}

const hourMs = 3_600_000;

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function credentialsOf(values: Record<string, string | boolean | undefined>): Promise<Credentials> {
  const { "key-id": id, user, "secret-file": file } = values as Record<string, string | undefined>;
  if (id === undefined && user === undefined) return {};
  const secret = (await readPassphrase(file, "secret key"))?.reveal();
  if (secret === undefined) throw new CommandFailure("the access key or password is missing: --secret-file FILE", 2);
  return id === undefined ? { user: user ?? "", password: secret } : { access_key_id: id, secret_access_key: secret };
}

function choose(snapshots: readonly { id: string; at: number; tags: string[] }[], at: string | undefined) {
  const limit = limitOf(at);
  if (Number.isNaN(limit)) throw new CommandFailure(`"${at}" is not a time; write it like 2026-11-28T14:05:00Z`, 2);
  const ours = snapshots.filter(({ tags }) => tags.includes(stateTag)).toSorted((a, b) => a.at - b.at);
  const found = ours.findLast((one) => one.at <= limit);
  if (found !== undefined) return found;
  const [oldest] = ours;
  const range = oldest === undefined ? "there is none" : `the oldest is of ${isoTime(oldest.at)}`;
  throw new Failure("not_found", `no copy is that old: ${range}; nothing was changed`);
}
