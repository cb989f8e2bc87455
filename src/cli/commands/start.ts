import type { DataOf } from "../../api/endpoint.ts";
import { startPod } from "../../api/orchestration/pods.ts";
import { answer, type Command } from "../command.ts";
import { exitCodes } from "../failures.ts";
import { podNames } from "../pods.ts";

export const startCommand: Command = {
  name: "start",
  summary: "start stopped pods again",
  usage: ["start SCOPE/NAME.REPLICA…", "start SCOPE/NAME"],
  flags: [],
  async run(context, args) {
    const done: DataOf<typeof startPod>[] = [];
    for (const name of await podNames(context.api, args.words)) {
      const data = await context.api.call(startPod, { params: { name } });
      done.push(data);
      if (!context.json) context.terminal.out(startedText(data));
    }
    answer(context, done.length === 1 ? done[0] : { pods: done }, () => "");
    return exitCodes.done;
  },
};

function startedText({ name, recreated, unfroze }: DataOf<typeof startPod>): string {
  return `${recreated ? "making" : "started"} ${name}${recreated ? " anew" : ""}${unfroze ? ", no longer frozen" : ""}`;
}
