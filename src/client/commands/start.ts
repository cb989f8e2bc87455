import type { DataOf } from "../../base/wire/endpoint.ts";
import { startPod } from "../../orchestration/api/pods.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { exitCodes } from "../shell/failures.ts";
import { frozenWithoutContainer, podNames, unlessGone } from "../wait/pods.ts";

export const startCommand: CommandBody = {
  usage: ["start SCOPE/NAME.REPLICA…", "start SCOPE/NAME"],
  examples: ["start shop/web  what was stopped"],
  detail: ["SCOPE/NAME means those of its replicas that do not run; a named pod is replaced by a new one."],
  flags: [],
  async run(context, args) {
    const done: DataOf<typeof startPod>[] = [];
    const names = await podNames(context.api, args.words, {
      concerns: (pod) => !pod.running || pod.frozen,
      others: (text) => frozenWithoutContainer(context.api, text),
    });
    if (names.length === 0 && !context.json) context.terminal.out("nothing to start: all of it runs");
    for (const name of names) {
      const data = await unlessGone(names, () => context.api.call(startPod, { params: { name } }));
      if (data === undefined) continue;
      done.push(data);
      if (!context.json) context.terminal.out(startedText(data));
    }
    answer(context, done.length === 1 ? done[0] : { pods: done }, () => "");
    return exitCodes.done;
  },
};

function startedText({ name, recreated, unfroze }: DataOf<typeof startPod>): string {
  if (unfroze && !recreated) return `${name} is no longer frozen; it starts once the replicas below it are ready`;
  return `${recreated ? "starting a new" : "started"} ${name}${unfroze ? ", no longer frozen" : ""}`;
}
