import { attachFlags } from "../session/attached.ts";
import { runInOwnContainer } from "../session/run-app.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";

/** The better shell of the image, in place of the program that the image starts. */
const command = ["sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash || exec sh"];

export const shellCommand: CommandBody = {
  usage: ["shell SCOPE/NAME[.ORDINAL] [--kind KIND] [-u USER] [-w DIR] [-e K=V]…"],
  examples: [
    "shell shop/web  a shell in a container of its own, with all that the app has",
    "shell shop/db.0 -u root  the volumes of one pod, as another user",
  ],
  detail: [
    "The container has the app's image, environment, config, volumes, networks and limits, without its",
    "ports and probes; it gets no requests, and is removed at the end. The image needs a shell. berth",
    "exec opens one in a pod that runs; berth run starts any other command in this way.",
  ],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "deployment, statefulset, job or cronjob, if several match" },
    ...attachFlags,
  ],
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (reference === undefined) throw usageFailure("say of which app: shell SCOPE/NAME");
    if (more.length > 0) {
      throw usageFailure(`shell takes no command; write: berth run ${reference} -- ${more.join(" ")}`);
    }
    const chosen: Arguments = {
      ...args,
      words: [reference, ...command],
      value: (flag) => (flag === "entrypoint" ? "" : args.value(flag)),
    };
    return runInOwnContainer(context, chosen);
  },
};
