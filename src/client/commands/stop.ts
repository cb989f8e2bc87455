import type { Client } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { stopPod } from "../../orchestration/api/pods.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { CommandFailure } from "../basics/failures.ts";
import { asleepApp, podNames, unlessGone } from "../wait/pods.ts";

export const stopCommand: CommandBody = {
  usage: ["stop SCOPE/NAME.REPLICA… [--no-freeze]", "stop SCOPE/NAME"],
  examples: ["stop shop/web.k3x7a  one replica", "stop shop/web  all of them"],
  detail: ["A stopped pod stays stopped until start or restart. SCOPE/NAME means all its replicas."],
  flags: [{ name: "no-freeze", summary: "only stop it: the server brings it back" }],
  async run(context, args) {
    const freeze = args.on("no-freeze") ? "false" : undefined;
    const done: DataOf<typeof stopPod>[] = [];
    for (const word of args.words) await refuseAsleep(context.api, word);
    const names = await podNames(context.api, args.words);
    for (const name of names) {
      const data = await unlessGone(names, () => context.api.call(stopPod, { params: { name }, query: { freeze } }));
      if (data === undefined) continue;
      done.push(data);
      if (!context.json) context.terminal.out(`stopped ${data.name}${data.freeze ? ", frozen until start" : ""}`);
    }
    return answer(context, done.length === 1 ? done[0] : { pods: done }, () => "");
  },
};

/** It has nothing that could be stopped, and a request would start it all the same. */
async function refuseAsleep(api: Client, word: string): Promise<void> {
  if ((await asleepApp(api, word)) === undefined) return;
  throw new CommandFailure(
    `${word} is asleep, so nothing of it runs; to keep it stopped, apply it with replicas: 0 and without wake`,
  );
}
