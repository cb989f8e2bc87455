import type { DataOf } from "../../base/wire/endpoint.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { startPod } from "../../orchestration/api/pods.ts";
import { wake } from "../../orchestration/api/wake.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { asleepApp, frozenWithoutContainer, podNames, unlessGone } from "../wait/pods.ts";

export const startCommand: CommandBody = {
  usage: ["start SCOPE/NAME.REPLICA…", "start SCOPE/NAME"],
  examples: ["start shop/web  what was stopped, or is asleep"],
  detail: [
    "SCOPE/NAME means those of its replicas that do not run; a named pod is replaced by a new one. An app",
    "that is asleep is woken, as a request would.",
  ],
  flags: [],
  async run(context, args) {
    const done: DataOf<typeof startPod>[] = [];
    const woken: DataOf<typeof wake>[] = [];
    const words: string[] = [];
    for (const word of args.words) {
      const app = await asleepApp(context.api, word);
      if (app === undefined) words.push(word);
      else woken.push(await context.api.call(wake, { query: app }));
    }
    if (!context.json) for (const app of woken) context.terminal.out(`waking ${formatKey(app)}`);
    const isAll = woken.length > 0 && words.length === 0;
    const names = isAll
      ? []
      : await podNames(context.api, words, {
          concerns: (pod) => !pod.running || pod.frozen,
          others: (text) => frozenWithoutContainer(context.api, text),
        });
    if (names.length === 0 && woken.length === 0 && !context.json)
      context.terminal.out("nothing to start: all of it runs");
    for (const name of names) {
      const data = await unlessGone(names, () => context.api.call(startPod, { params: { name } }));
      if (data === undefined) continue;
      done.push(data);
      if (!context.json) context.terminal.out(startedText(data));
    }
    const pods = done.length === 1 && woken.length === 0 ? done[0] : { pods: done };
    return answer(context, woken.length === 0 ? pods : { ...pods, woken }, () => "");
  },
};

function startedText({ name, recreated, unfroze }: DataOf<typeof startPod>): string {
  if (unfroze && !recreated) return `${name} is no longer frozen; it starts once the replicas below it are ready`;
  return `${recreated ? "starting a new" : "started"} ${name}${unfroze ? ", no longer frozen" : ""}`;
}
