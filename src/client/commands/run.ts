import { cancelRun } from "../../orchestration/api/jobs.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { attachFlags } from "../session/attached.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { followRun, startRun } from "../wait/run-follow.ts";
import { runInOwnContainer } from "../session/run-app.ts";
import { findJob } from "../wait/run-target.ts";

export const runCommand: CommandBody = {
  usage: [
    "run SCOPE/NAME [--kind KIND] [--no-wait]",
    "run SCOPE/NAME[.ORDINAL] [-u USER] [-w DIR] [-e K=V]… -- COMMAND…",
    "run --cancel RUN",
  ],
  examples: [
    "run shop/nightly  the job, as its manifest says",
    "run shop/web -- bin/rails console  a command in a container of its own",
    "run shop/web -- bin/import <dump.sql  stdin for the command",
  ],
  detail: [
    "A job: waits for its end and exits with its exit code; with 1 when the run was cancelled or never",
    "began, with 3 when it took longer than its timeout. Ctrl-C does not end the run.",
    "",
    "A command: gets a container with the app's image, environment, volumes, networks and limits, without",
    "its ports. The container is removed at the end. Stdin is passed on; on a terminal the command gets",
    "one too. Exits with the exit code of the command. When this program goes away, the server ends the",
    "command. For a statefulset, .ORDINAL says which pod's volumes the command gets. berth exec runs a",
    "command in a pod that runs already.",
  ],
  flags: [
    {
      name: "kind",
      short: "k",
      value: "KIND",
      summary: "deployment, statefulset, job or cronjob, if several match",
    },
    { name: "no-wait", aliases: ["detach"], summary: "a job: print the id of the run and do not wait" },
    { name: "cancel", value: "RUN", summary: "end the run with this id instead" },
    ...attachFlags,
    { name: "entrypoint", value: "PROGRAM", summary: 'program before COMMAND, "" for none (default: the app\'s)' },
  ],
  restFromWord: 2,
  async run(context, args) {
    const [text, ...more] = args.words;
    const id = args.value("cancel");
    if (id !== undefined) {
      if (text !== undefined) throw usageFailure("--cancel takes the id of a run and nothing else");
      const run = await context.api.call(cancelRun, { params: { id } });
      return answer(context, run, () => `run ${run.run_id} of ${formatKey(run)} ${run.status}`);
    }
    if (text === undefined) throw usageFailure("say what to run: SCOPE/NAME of a job, or SCOPE/NAME -- COMMAND");
    if (more.length > 0) return runInOwnContainer(context, args);
    const begun = await startRun(context, await findJob(context.api, text, args.value("kind")));
    if (!args.on("no-wait")) return followRun(context, begun);
    return answer(context, begun, () => begun.run_id);
  },
};
