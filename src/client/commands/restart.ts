import { formatKey } from "../../orchestration/api/manifest.ts";
import { restart } from "../../orchestration/api/restart.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import { oneWord } from "../shell/words.ts";
import { follow, timeoutOf } from "../wait/follow.ts";
import { imagePullText } from "../text/image-pull-text.ts";
import { noBackupFlag } from "./apply.ts";
import { operationTarget, releaseTarget } from "../facts/look.ts";
import { resourceQuery } from "../basics/reference.ts";

export const restartCommand: CommandBody = {
  usage: ["restart SCOPE/NAME [--pull] [--kind KIND] [--no-wait] [--timeout TIME]"],
  examples: [
    "restart shop/web  one replica after another, and wait",
    "restart shop/web --pull  take a newer image of the same tag",
  ],
  detail: [
    "Replicas that were stopped by hand start again, too. With --pull, the server backs up a database before",
    "its image changes; if that fails, nothing is changed.",
  ],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "deployment or statefulset, where both have the name" },
    { name: "pull", summary: "ask the registry for its images first; a tag that moved is a release" },
    noBackupFlag,
    { name: "no-wait", aliases: ["detach"], summary: "do not wait until the last one is replaced" },
    { name: "timeout", value: "TIME", summary: "how long to wait: 90s, 5m (default), 1h" },
  ],
  async run(context, args) {
    const text = oneWord(args, "what to restart: one SCOPE/NAME");
    const timeoutMs = timeoutOf(args.value("timeout"), context);
    const named = resourceQuery(text, args.value("kind"));
    // The wait is ours, so that it can be shown, limited and left.
    const [pull, no_backup] = ["pull", "no-backup"].map((name) => (args.on(name) ? "true" : undefined));
    const data = await context.api.call(restart, { query: { ...named, pull, no_backup, wait: "false" } });
    const { terminal } = context;
    for (const row of data.image_pulls ?? []) terminal.note(imagePullText(row, terminal.noteStyle));
    answer(context, data, () => {
      const unfrozen = data.unfroze.length === 0 ? "" : `, no longer frozen: ${data.unfroze.join(", ")}`;
      return `restarting ${formatKey(data)}${unfrozen}`;
    });
    if (args.on("no-wait") || data.operation === undefined) return exitCodes.done;
    const { release, operation } = data;
    const target = release === undefined ? operationTarget : releaseTarget;
    return follow([target(context.api, data, release ?? operation)], timeoutMs, context);
  },
};
