import { deleteHeartbeat, getHeartbeat, putHeartbeat } from "../../../observability/api/alert-heartbeat.ts";
import { answer, type Command } from "../../shell/command.ts";
import { exitCodes, usageFailure } from "../../basics/failures.ts";
import { heartbeatText } from "../../text/alert-text.ts";
import { noWords, secretOf } from "../../shell/words.ts";

export const heartbeatCommand: Command = {
  name: "heartbeat",
  summary: "ping a service that alerts when no ping comes: it notices that the whole machine is gone",
  usage: ["alerts heartbeat", "alerts heartbeat set URL [--every TIME]", "alerts heartbeat off"],
  examples: [
    "alerts heartbeat set https://hc-ping.com/UUID --every 5m  any service that expects a GET",
    "alerts heartbeat  how the pings go",
  ],
  detail: ["No ping goes out while the alerts are not evaluated. URL is sealed; - reads it from stdin."],
  flags: [{ name: "every", value: "TIME", summary: "between two pings (5m); at least 30s" }],
  async run(context, args) {
    const [verb, text, ...more] = args.words;
    noWords({ words: more });
    if (verb === undefined) {
      const data = await context.api.call(getHeartbeat);
      answer(context, data, () => heartbeatText(data, context));
      return data.state === "failing" || data.state === "held" ? exitCodes.failed : exitCodes.done;
    }
    if (verb === "off" && text === undefined) {
      const data = await context.api.call(deleteHeartbeat);
      return answer(context, data, () => "the pings have ended");
    }
    const url = await secretOf(context, text);
    if (verb !== "set" || url === undefined) throw usageFailure("say where to: alerts heartbeat set URL");
    const body = { url, every: args.value("every") };
    const data = await context.api.call(putHeartbeat, { body });
    return answer(
      context,
      data,
      () => `pings ${data.target} every ${data.every}; see how it goes: berth alerts heartbeat`,
    );
  },
};
