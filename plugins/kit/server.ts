import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import { type Call, type CommandHandler, type Outcome, PluginError, usage } from "../kit.ts";
import { noMoreThan, parseArguments, readReference, referenceText, wholeNumber } from "./arguments.ts";
import { anyPod, backupId, cancelledCode, cancelledText, checkText, listBackups, newerTool } from "./backups.ts";
import { bytesText, columns } from "./bytes.ts";
import {
  type Cluster,
  type ClusterKind,
  loadCluster,
  outputOf,
  primaryPod,
  tool,
  tryTool,
  type UrlParts,
} from "./cluster.ts";
import { durationMs } from "./duration.ts";
import { bringBack } from "./handover.ts";
import { readNote } from "./note.ts";
import { type Link, linkAction, linksAction, readLinks, type Urls, unlinkAction, withoutLink } from "./links.ts";

/** What a kind of server is, for the commands that are the same for each. */
export interface ServerKind extends ClusterKind {
  /** Config key of the links. */
  linksKey: string;
  /** Config key of how many backups stay. */
  keepKey: string;
  /** Config key of the address and port that lead to the server from outside. */
  exposeKey: string;
  /** Heading of what a backup holds. */
  holds: string;
  urls: (parts: UrlParts, link: Link) => Urls;
}

/** Limit of what copies all of the data, a minute below that of its command in plugin.yml. */
export const copyMs = 12 * 60 * 60_000 - 60_000;
const rejoinMs = 2 * 60 * 60_000 - 60_000;

/** The block that the first word names. */
export function loadServer(call: Call, kind: ServerKind, word: string | undefined): Promise<Cluster> {
  return loadCluster(call, readReference(word, kind.what), kind);
}

/** New URLs for the linked apps that these concern. */
export function linkActions(
  cluster: Cluster,
  kind: ServerKind,
  concerns: (link: Link) => boolean = () => true,
): Action[] {
  const links = readLinks(cluster.config[kind.linksKey]).filter(concerns);
  return links.map((each) => linkAction(each, kind.urls(cluster, each)));
}

/** Before a command changes what the URLs of linked apps name: fails where its caller may not change those apps. */
export async function requireLinkedApps(
  cluster: Cluster,
  kind: ServerKind,
  concerns: (link: Link) => boolean = () => true,
): Promise<void> {
  const links = readLinks(cluster.config[kind.linksKey]).filter(concerns);
  for (const app of new Set(links.map((link) => link.app))) {
    await cluster.controller.requireConfigurable(readReference(app, "app"));
  }
}

/** Writes the links at once, while the command still has work to do: the apps must not wait for it. */
export async function relink(cluster: Cluster, kind: ServerKind): Promise<Action[]> {
  const actions = linkActions(cluster, kind);
  for (const action of actions) {
    if (action.type !== "config_set") continue;
    const { scope, name, kv } = action;
    try {
      await cluster.controller.setConfig({ scope, name }, kv, { restart: true });
      cluster.progress(`${scope}/${name} has the new URL`);
    } catch (error) {
      cluster.progress(
        `${scope}/${name} gets its URL at the end (${error instanceof Error ? error.message : String(error)})`,
      );
    }
  }
  return actions;
}

/** `unlink SCOPE/NAME SCOPE/APP`: every URL of the app, or the one of `--as`. */
export function unlinkCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["as"] });
    noMoreThan(args.words, 2);
    const cluster = await loadServer(call, kind, args.words[0]);
    const app = referenceText(readReference(args.words[1], "app"));
    const links = readLinks(cluster.config[kind.linksKey]);
    const gone = links.filter((each) => each.app === app && (args.values.as ?? each.key) === each.key);
    if (gone.length === 0) return { message: `${app} is not linked to ${referenceText(cluster.of)}` };
    const written = gone.filter(({ declared }) => declared).map(({ key }) => key);
    if (written.length > 0) {
      throw new PluginError(
        `${written.join(", ")} of ${app} is written in the block: take it out of its links, and apply that`,
      );
    }
    const left = withoutLink(links, app, args.values.as);
    return {
      message: `${app} no longer has ${gone.map(({ key }) => key).join(", ")}; the user and its password stay`,
      actions: [...gone.map(unlinkAction), linksAction(cluster.of, kind.linksKey, left)],
    };
  };
}

/** `rejoin SCOPE/NAME --replica N`: the pod is recreated and follows the primary. */
export function rejoinCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["replica"] });
    noMoreThan(args.words, 1);
    const replica = wholeNumber(args.values.replica, "replica");
    if (replica === undefined) throw usage("say which pod: --replica N");
    const cluster = await loadServer(call, kind, args.words[0]);
    if (readNote(cluster) !== undefined) {
      throw new PluginError("a promotion was cut off, and the server is about to finish or undo it; see: info");
    }
    await bringBack(cluster, replica, rejoinMs);
    return { message: `pod ${replica} of ${referenceText(cluster.of)} follows pod ${cluster.primary}` };
  };
}

/** `backup SCOPE/NAME`: restored once to see that it can be, unless `--no-check`. */
export function backupCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["keep"], switches: ["no-check"] });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    const keep = wholeNumber(args.values.keep, "keep") ?? Number(cluster.config[kind.keepKey] ?? "7");
    if (keep < 1) throw usage("--keep needs at least 1");
    const checked = !args.on.has("no-check");
    const words = ["backup", String(keep), ...(checked ? ["check"] : [])];
    const taking = { pod: primaryPod(cluster), args: words, timeoutMs: copyMs, loud: true };
    const outcome = await tryTool(cluster, taking);
    if (outcome.exitCode === cancelledCode) {
      throw new PluginError(
        `the backup of ${referenceText(cluster.of)} ${cancelledText}; those that are complete stay`,
      );
    }
    const id = outputOf(taking, outcome);
    return { message: `backup ${id} ${checked ? "was restored once and counted" : "is written"}; ${keep} are kept` };
  };
}

/** `backups SCOPE/NAME`. */
export function backupsCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["output"], short: { o: "output" } });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    const list = await listBackups(cluster);
    if (args.values.output === "json") return { message: JSON.stringify(list, null, 2) };
    if (list.length === 0) return { message: `no backups; take one with: backup ${referenceText(cluster.of)}` };
    const rows = list.map((backup) => [backup.id, bytesText(backup.bytes), backup.holds, checkText(backup)]);
    return { message: columns([["BACKUP", "SIZE", kind.holds, "CHECK"], ...rows]) };
  };
}

/** `backups:check SCOPE/NAME BACKUP`: restores it once to see that it can be, and stores what came of that. */
export function checkBackupCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, {});
    noMoreThan(args.words, 2);
    const id = backupId(args.words[1]);
    const cluster = await loadServer(call, kind, args.words[0]);
    await newerTool(cluster, { pod: primaryPod(cluster), args: ["check", id], timeoutMs: copyMs, loud: true });
    return { message: `backup ${id} was restored once and counted` };
  };
}

/** `backups:delete SCOPE/NAME BACKUP`. */
export function deleteBackupCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { switches: ["yes"] });
    noMoreThan(args.words, 2);
    const id = backupId(args.words[1]);
    const cluster = await loadServer(call, kind, args.words[0]);
    await tool(cluster, { pod: anyPod(cluster), args: ["delete_backup", id] });
    return { message: `backup ${id} is gone` };
  };
}

/** As a count of backups. */
const unlimited = 1_000_000_000;

/** Limit of a prune, which reads the newest good backup in whole: below that of its command in plugin.yml. */
const pruneMs = 60 * 60_000 - 60_000;

/** `backups:prune SCOPE/NAME [--keep N] [--max-age D]`: kept.sh decides what goes, as it does for the schedule. */
export function pruneBackupsCommand(kind: ServerKind): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["keep", "max-age"], switches: ["dry-run", "yes"] });
    noMoreThan(args.words, 1);
    const keep = wholeNumber(args.values.keep, "keep") ?? unlimited;
    const age = args.values["max-age"];
    const maxAgeMs = age === undefined ? 0 : durationMs(age);
    if (args.values.keep === undefined && age === undefined)
      throw usage("say which stay: --keep N, --max-age 30d, or both");
    if (keep < 1) throw usage("--keep needs at least 1");
    if (maxAgeMs === undefined || (age !== undefined && maxAgeMs === 0))
      throw usage(`--max-age needs a duration such as 30d or 12h, not "${age}"`);
    const cluster = await loadServer(call, kind, args.words[0]);
    const isDry = args.on.has("dry-run");
    const words = ["prune_backups", String(keep), String(maxAgeMs / 1_000), ...(isDry ? ["dry"] : [])];
    const gone = await newerTool(cluster, { pod: anyPod(cluster), args: words, timeoutMs: pruneMs });
    const list = gone === "" ? "no backup" : gone.split("\n").join(", ");
    return { message: isDry ? `would remove ${list}` : `removed ${list}` };
  };
}
