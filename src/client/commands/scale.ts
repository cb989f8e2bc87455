import type { DataOf } from "../../base/wire/endpoint.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { scale } from "../../orchestration/api/scale.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { follow, timeoutOf } from "../wait/follow.ts";
import { readyTarget } from "../facts/look.ts";
import { resourceQuery } from "../basics/reference.ts";

type Scaled = DataOf<typeof scale>;

export const scaleCommand: CommandBody = {
  usage: ["scale SCOPE/NAME=N… [--kind KIND] [--no-wait] [--timeout TIME]", "scale SCOPE/NAME N"],
  examples: ["scale shop/web=4  and wait until they are ready", "scale shop/web=0  stop the app, keep everything else"],
  detail: [
    "Writes the number of replicas into the stored manifest and changes nothing else. Refused where an",
    "autoscaler decides. The next apply sets what the file says: write the number there too. An app with",
    "wake: true is put to sleep by 0: its number stays, and the first request starts it.",
  ],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "deployment or statefulset, where both have the name" },
    { name: "no-wait", aliases: ["detach"], summary: "do not wait until they are ready" },
    { name: "timeout", value: "TIME", summary: "how long to wait: 90s, 5m (default), 1h" },
  ],
  async run(context, args) {
    const timeoutMs = timeoutOf(args.value("timeout"), context);
    const wishes = wishesOf(args.words);
    const done: Scaled[] = [];
    for (const wish of wishes) {
      const data = await scaleOne(context, args, wish);
      done.push(data);
      if (!context.json) context.terminal.out(`${formatKey(data)}: ${data.previous} → ${data.replicas} replicas`);
    }
    answer(context, done.length === 1 ? done[0] : { scaled: done }, () => "");
    if (args.on("no-wait")) return exitCodes.done;
    const targets = done.map((data) =>
      readyTarget(context.api, data, { revision: data.revision, unchanged: data.previous === data.replicas }),
    );
    return follow(targets, timeoutMs, context);
  },
};

interface Wish {
  reference: string;
  replicas: string;
}

/** `REF=N…`, or one `REF N`. All are read before any is sent. */
function wishesOf(words: readonly string[]): Wish[] {
  const [first, second, ...more] = words;
  if (first !== undefined && second !== undefined && more.length === 0 && !first.includes("=") && isCount(second)) {
    return [{ reference: first, replicas: second }];
  }
  if (second !== undefined && more.length === 0 && !`${first}${second}`.includes("="))
    throw usageFailure(`"${second}" is not a number of replicas: use 0 or more`);
  if (first === undefined) throw usageFailure("say how many of what: SCOPE/NAME=N");
  return words.map((word) => {
    const equals = word.indexOf("=");
    const [reference, replicas] = [word.slice(0, equals), word.slice(equals + 1)];
    if (equals < 1 || !isCount(replicas)) throw usageFailure(`"${word}" is not SCOPE/NAME=N with a whole number`);
    return { reference, replicas };
  });
}

function isCount(text: string): boolean {
  return /^\d+$/.test(text);
}

function scaleOne({ api }: Context, args: Arguments, { reference, replicas }: Wish): Promise<Scaled> {
  return api.call(scale, { query: { ...resourceQuery(reference, args.value("kind")), replicas } });
}
