import { formatKey } from "../../orchestration/api/manifest.ts";
import { listReleases, rollback } from "../../orchestration/api/releases.ts";
import type { DataOf, QueryOf } from "../../base/wire/endpoint.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import { oneWord } from "../shell/words.ts";
import { follow, timeoutOf } from "../wait/follow.ts";
import { messageFlag, noBackupFlag } from "./apply.ts";
import { releaseTarget } from "../facts/look.ts";
import { resourceQuery } from "../basics/reference.ts";
import { takenBackFields, takenBackLines } from "../facts/taken-back.ts";

export const rollbackCommand: CommandBody = {
  usage: ["rollback SCOPE/NAME [--to ID] [-m WHY] [--dry-run] [--no-backup] [--no-wait] [--timeout TIME]"],
  examples: [
    "rollback shop/web --dry-run  where it would go, and which fields would change",
    "rollback shop/web  to the last release that worked",
    "rollback shop/web --to 0tox11b2k  to one that berth releases lists",
  ],
  detail: [
    "Without --to it takes the newest good release with another spec or image. What containers are made",
    "from and the release commands go back. Config, the number of replicas, how replicas are replaced and",
    "webhooks stay, as far as they fit. A rollout that is under way ends. Before the image of a database",
    "changes, the server backs it up; if that fails, nothing is changed.",
  ],
  flags: [
    { name: "to", value: "ID", summary: "the release to return to, as releases lists it" },
    messageFlag,
    { name: "kind", short: "k", value: "KIND", summary: "deployment (default) or statefulset" },
    noBackupFlag,
    { name: "dry-run", summary: "show what would change, and change nothing" },
    { name: "no-wait", aliases: ["detach"], summary: "do not wait until it is ready" },
    { name: "timeout", value: "TIME", summary: "how long to wait: 90s, 5m (default), 1h" },
  ],
  async run(context, args) {
    const text = oneWord(args, "what to roll back: one SCOPE/NAME; a certain release: --to ID");
    const timeoutMs = timeoutOf(args.value("timeout"), context);
    const named = resourceQuery(text, args.value("kind"));
    const query = {
      ...named,
      release_id: args.value("to"),
      message: args.value("message"),
      no_backup: args.on("no-backup") ? "true" : undefined,
    };
    if (args.on("dry-run")) return showRollback(context, { ...query, dry_run: "true" });
    const data = await context.api.call(rollback, { query });
    answer(context, data, () => rollbackText(data));
    if (args.on("no-wait") || data.new_release === undefined) return exitCodes.done;
    return follow([releaseTarget(context.api, data, data.new_release)], timeoutMs, context);
  },
};

/** What a rollback would do, with the values of the fields that it would change back. */
async function showRollback(context: Context, query: QueryOf<typeof rollback>): Promise<number> {
  const data = await context.api.call(rollback, { query });
  const { kind, scope, name, rolled_back_to: goal, taken_back } = data;
  const { releases } = await context.api.call(listReleases, { query: { kind, scope, name } });
  return answer(context, data, () => {
    const release = { ...releases.find(({ id }) => id === goal), taken_back };
    const fields = takenBackLines(release, releases[0]).map((line) => `  ${line}`);
    const same = fields.length === 0 ? ["  no field of the manifest changes: only the image does"] : fields;
    return [`would roll ${formatKey(data)} back to release ${goal}`, ...same, "nothing was changed"].join("\n");
  });
}

function rollbackText(data: DataOf<typeof rollback>): string {
  const { taken_back: paths = [] } = data;
  const fields = paths.length === 0 ? "" : `\n  taken back: ${takenBackFields(paths)}`;
  return `rolling ${formatKey(data)} back to release ${data.rolled_back_to}${fields}`;
}
