import {
  abortRollout,
  getRollout,
  pauseRollout,
  promoteRollout,
  resumeRollout,
} from "../../orchestration/api/rollouts.ts";
import type { Arguments, Flag } from "../basics/arguments.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { resourceQuery } from "../basics/reference.ts";
import { oneWord } from "../shell/words.ts";
import { rolloutText } from "../text/rollout-text.ts";
import { follow, timeoutOf } from "../wait/follow.ts";
import { releaseTarget } from "../facts/look.ts";
import { watch } from "../shell/watch.ts";
import { tableSetup } from "./get.ts";

const kindFlag: Flag = {
  name: "kind",
  short: "k",
  value: "KIND",
  summary: "deployment or statefulset, where both have the name",
};

const waitFlags: Flag[] = [
  { name: "no-wait", aliases: ["detach"], summary: "do not wait until it is ready" },
  { name: "timeout", value: "TIME", summary: "how long to wait: 90s, 5m (default), 1h" },
];

const statusCommand: Command = {
  name: "status",
  summary: "show the newest release, its canary step, the time left and what visitors see",
  usage: ["rollout status SCOPE/NAME [-w]"],
  examples: [
    "rollout status shop/web  which share of the requests the new replicas get",
    "rollout status shop/web -w  the same, until Ctrl-C",
  ],
  flags: [kindFlag, { name: "watch", short: "w", summary: "go on showing it until Ctrl-C" }],
  run: (context, args) => (args.on("watch") ? watchStatus(context, args) : tell(context, args, getRollout)),
};

const pauseCommand: Command = {
  name: "pause",
  summary: "let a canary stay at its step until you resume it",
  usage: ["rollout pause SCOPE/NAME"],
  examples: ["rollout pause shop/web  the time of the step stands still"],
  flags: [kindFlag],
  run: (context, args) => tell(context, args, pauseRollout),
};

const resumeCommand: Command = {
  name: "resume",
  summary: "go on with a paused canary, or past a step with pause: forever",
  usage: ["rollout resume SCOPE/NAME"],
  examples: ["rollout resume shop/web  the rest of the step, then the next one"],
  flags: [kindFlag],
  run: (context, args) => tell(context, args, resumeRollout),
};

const promoteCommand: Command = {
  name: "promote",
  summary: "skip the steps that are left and replace all replicas",
  usage: ["rollout promote SCOPE/NAME [--no-wait] [--timeout TIME]"],
  examples: ["rollout promote shop/web  and wait until it is ready"],
  detail: ["The guard goes on watching until the release is good."],
  flags: [kindFlag, ...waitFlags],
  run: (context, args) => tellAndWait(context, args, promoteRollout),
};

const abortCommand: Command = {
  name: "abort",
  summary: "end a release under way and go back to the last good one",
  usage: ["rollout abort SCOPE/NAME [--no-wait] [--timeout TIME]"],
  examples: ["rollout abort shop/web  and wait until the old replicas serve alone"],
  detail: [
    "Works on every release under way, with a canary or without, and after a switch for as long as",
    "rollout.keep keeps the old replicas. During a canary no container has to start for the way back.",
  ],
  flags: [kindFlag, ...waitFlags],
  run: (context, args) => tellAndWait(context, args, abortRollout),
};

export const rolloutCommand: CommandBody = {
  usage: [],
  examples: [
    "rollout status shop/web  the step, the time left and what visitors see",
    "rollout resume shop/web  go on with the next step",
    "rollout abort shop/web  back to the release before",
  ],
  detail: ["berth rollout COMMAND --help says more."],
  flags: [],
  commands: [statusCommand, pauseCommand, resumeCommand, promoteCommand, abortCommand],
  run: () => Promise.reject(usageFailure("say what to do: rollout status, pause, resume, promote, abort")),
};

type Told =
  typeof getRollout | typeof pauseRollout | typeof resumeRollout | typeof promoteRollout | typeof abortRollout;

async function call({ api }: Context, args: Arguments, endpoint: Told) {
  const text = oneWord(args, "which rollout: one SCOPE/NAME");
  return api.call(endpoint, { query: resourceQuery(text, args.value("kind")) });
}

function watchStatus(context: Context, args: Arguments): Promise<number> {
  const look = async () => {
    const data = await call(context, args, getRollout);
    const { release, status, error, canary } = data;
    const key = [release, status, error, canary?.state, canary?.text].join(" ");
    const json = () => JSON.stringify({ status: "ok", data }, null, 2);
    return { text: context.json ? json() : rolloutText(data, tableSetup(context)), key };
  };
  return watch(context, { look, everyMs: context.limits.followMs });
}

async function tell(context: Context, args: Arguments, endpoint: Told): Promise<number> {
  const data = await call(context, args, endpoint);
  return answer(context, data, () => rolloutText(data, tableSetup(context)));
}

async function tellAndWait(context: Context, args: Arguments, endpoint: Told): Promise<number> {
  const timeoutMs = timeoutOf(args.value("timeout"), context);
  const data = await call(context, args, endpoint);
  answer(context, data, () => rolloutText(data, tableSetup(context)));
  if (args.on("no-wait") || data.release === undefined) return exitCodes.done;
  return follow([releaseTarget(context.api, data, data.release)], timeoutMs, context);
}
