import { cancelRun } from "../../api/orchestration/jobs.ts";
import { formatKey } from "../../api/manifest.ts";
import { answer, type CommandBody } from "../command.ts";
import { exitCodes, usageFailure } from "../failures.ts";
import { followRun, startRun } from "../run-follow.ts";
import { findJob } from "../run-target.ts";

export const runCommand: CommandBody = {
  usage: ["run SCOPE/NAME [--kind KIND] [--no-wait]", "run --cancel RUN"],
  detail: [
    "Ends with 1 when the run was cancelled or never began, with 3 when it took longer than its timeout.",
    "Ctrl-C leaves the run alone: it goes on.",
  ],
  flags: [
    { name: "kind", short: "k", value: "KIND", summary: "job or cronjob, where both have the name" },
    { name: "no-wait", aliases: ["detach"], summary: "print the id of the run and do not wait" },
    { name: "cancel", value: "RUN", summary: "end the run with this id instead" },
  ],
  async run(context, args) {
    const [text, ...more] = args.words;
    const id = args.value("cancel");
    if (id !== undefined) {
      if (text !== undefined) throw usageFailure("--cancel takes the id of a run and nothing else");
      const run = await context.api.call(cancelRun, { params: { id } });
      answer(context, run, () => `run ${run.run_id} of ${formatKey(run)} ${run.status}`);
      return exitCodes.done;
    }
    if (text === undefined) throw usageFailure("say what to run: SCOPE/NAME of a job or cron job");
    if (more.length > 0) {
      throw usageFailure(
        "a job runs the command of its manifest; for a command in a pod: berth exec SCOPE/NAME -- CMD",
      );
    }
    const begun = await startRun(context, await findJob(context.api, text, args.value("kind")));
    if (!args.on("no-wait")) return followRun(context, begun);
    answer(context, begun, () => begun.run_id);
    return exitCodes.done;
  },
};
