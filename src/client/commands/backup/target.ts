import {
  type BackupTarget,
  type BackupTargetBody,
  deleteBackupTarget,
  listBackupTargets,
  putBackupTarget,
  testBackupTarget,
} from "../../../backups/api/backups.ts";
import { isTargetFailing } from "../../../backups/api/protection.ts";
import type { Arguments } from "../../basics/arguments.ts";
import { exitCodes, usageFailure } from "../../basics/failures.ts";
import { printable } from "../../basics/style.ts";
import { tableText } from "../../basics/table-text.ts";
import { assent, yesFlag } from "../../shell/ask.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { rowsOf } from "../../shell/listing.ts";
import { bytesText } from "../../text/stats-table.ts";
import { timeText } from "../../text/time-text.ts";

export const targetCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list where copies go to, and how the last one went",
    usage: ["backup target list"],
    flags: [],
    groups: true,
    lists: rowsOf("targets", "name"),
    async run(context) {
      const data = await context.api.call(listBackupTargets, {});
      answer(context, data, () => targetsText(data.targets, context));
      return data.targets.length > 0 && data.targets.every(isTargetFailing) ? exitCodes.failed : exitCodes.done;
    },
  },
  {
    name: "add",
    summary: "copy the server's state, and protected volumes, to one more place, or change how",
    usage: ["backup target add NAME WHERE [--every TIME] [--keep COUNTS] [--images] [--logs] [--append-only]"],
    examples: [
      "backup target add disk /mnt/disk/copies",
      "backup target add offsite s3://s3.example.com/bucket --key-id AKIA1 < secret-key.txt",
      "backup target add nas sftp://backup@nas.example.com/volume1/berth --every 6h",
      "backup target add vault rest:https://vault.example.com:8000/ --user berth < password.txt",
    ],
    detail: [
      "WHERE is a folder of the server, storage that speaks S3 (s3+http:// without TLS), a machine",
      "by SFTP, or a REST server of restic. sftp uses the ssh keys of root on the server. Copies are",
      "encrypted before they leave it: berth backup key prints the key that opens them.",
    ],
    flags: [
      { name: "every", value: "TIME", summary: "how often a copy of the state is made (1h)" },
      { name: "keep", value: "COUNTS", summary: 'how many are kept ("24h 7d 4w 12m")' },
      { name: "images", summary: "copy images of apps that no registry holds, too" },
      { name: "logs", summary: "copy stored logs, metrics and traces once a day, too" },
      { name: "append-only", summary: "remove nothing there; old copies are removed from elsewhere" },
      { name: "max-size", value: "SIZE", summary: "an alert fires when the target is larger, like 50GB" },
      { name: "key-id", value: "ID", summary: "of s3: id of the access key, which comes on stdin" },
      { name: "user", value: "NAME", summary: "of rest: user, whose password comes on stdin" },
    ],
    async run(context, args) {
      const [name, url, ...more] = args.words;
      if (name === undefined || url === undefined || more.length > 0)
        throw usageFailure("backup target add takes a NAME and WHERE copies go to");
      const body: BackupTargetBody = {
        url,
        credentials: await credentialsOf(context, args),
        every: args.value("every"),
        keep: args.value("keep"),
        max_size: args.value("max-size"),
        append_only: args.on("append-only") || undefined,
        images: args.on("images") || undefined,
        logs: args.on("logs") || undefined,
      };
      const data = await context.api.call(putBackupTarget, { params: { name }, body });
      if (url.startsWith("rest:"))
        context.terminal.note(
          "databases with point_in_time need another target: a folder, S3 or SFTP can hold their WAL",
        );
      return answer(context, data, () => addedText(data));
    },
  },
  {
    name: "test",
    summary: "open what is at a target, and count the copies there",
    usage: ["backup target test NAME"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(testBackupTarget, { params: { name: oneName(args) } });
      const newest = data.newest_at === undefined ? "" : `, the newest of ${timeText(data.newest_at)}`;
      return answer(
        context,
        data,
        () => `${data.name} holds ${data.snapshots} ${data.snapshots === 1 ? "copy" : "copies"}${newest}`,
      );
    },
  },
  {
    name: "remove",
    summary: "copy nothing there any more; what is there stays",
    usage: ["backup target remove NAME [-y]"],
    flags: [yesFlag],
    async run(context, args) {
      const name = oneName(args);
      await assent(`copy nothing to ${name} any more, and forget its credentials?`, args, context);
      const data = await context.api.call(deleteBackupTarget, { params: { name } });
      return answer(context, data, () => `removed ${data.name}; the copies that are there stay`);
    },
  },
];

/** The secret part comes on stdin: an argument would stand in the list of processes. */
async function credentialsOf(context: Context, args: Arguments): Promise<Record<string, string>> {
  const [id, user] = [args.value("key-id"), args.value("user")];
  if (id === undefined && user === undefined) return {};
  const secret = (await context.stdin()).trim();
  if (secret === "")
    throw usageFailure("the access key or password is missing: give it on stdin, for example: < secret.txt");
  return id === undefined ? { user: user ?? "", password: secret } : { access_key_id: id, secret_access_key: secret };
}

function oneName(args: Arguments): string {
  const [name, ...more] = args.words;
  if (name === undefined || more.length > 0)
    throw usageFailure("write the NAME of one target, as berth backup target list shows it");
  return name;
}

function addedText({ name, every, keep, images, logs }: BackupTarget): string {
  return [
    `${name} gets a copy of the server's state every ${every}, and keeps ${keep}; volumes go there too, of apps with \`backup: {}\``,
    ...(images === true ? ["images that no registry holds go there too, and come back when a replica needs one"] : []),
    ...(logs === true ? ["stored logs, metrics and traces go there too, once a day"] : []),
    "next: berth backup key > key.txt, and keep that key outside of this server: without it no copy can be read",
  ].join("\n");
}

/** `1.2 GB, +30 MB a day`. */
function sizesText({ size_bytes: size, growth_bytes: growth }: BackupTarget): string {
  if (size === undefined) return "";
  return growth === undefined ? bytesText(size) : `${bytesText(size)}, +${bytesText(Math.max(0, growth))} a day`;
}

/** Each error once, after all that it is of: a target that is away fails every copy in the same words. */
function sameErrors(texts: readonly string[]): string[] {
  const found = Map.groupBy(texts, (text) => text.slice(text.indexOf(": ")));
  return [...found].map(([error, all]) => `${all.map((text) => text.slice(0, text.indexOf(": "))).join(", ")}${error}`);
}

function targetsText(targets: readonly BackupTarget[], { terminal }: Context): string {
  if (targets.length === 0) return "no targets; see: berth backup target add --help";
  const { style, width } = terminal;
  const rows = targets.map((one) => [
    one.name,
    printable(one.url),
    one.every,
    one.state_at === undefined ? style.yellow("never") : timeText(one.state_at),
    sizesText(one),
    isTargetFailing(one) ? style.red("failing") : one.held === undefined ? "ok" : style.yellow("held"),
  ]);
  const faults = targets.flatMap(({ name, last_error: error, check_error: checked, held, next_at: next, ...more }) => [
    ...(checked === undefined ? [] : [`${style.red(name)}: ${printable(checked)}`]),
    ...(error === undefined
      ? []
      : [`${style.red(name)}: ${printable(error)}${next === undefined ? "" : `; next try at ${timeText(next)}`}`]),
    ...sameErrors(more.volume_errors ?? []).map((text) => `${style.red(name)}: ${printable(text)}`),
    ...(held === undefined ? [] : [`${style.yellow(name)}: ${printable(held)}`]),
  ]);
  const head = ["NAME", "WHERE", "EVERY", "STATE OF", "SIZE", "STATE"];
  return [tableText([head, ...rows], { head: style.dim, width }), ...faults].join("\n");
}
