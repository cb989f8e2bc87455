import type { Command } from "./command.ts";
import { applyCommand } from "./commands/apply.ts";
import { configCommand } from "./commands/config.ts";
import { cronCommand } from "./commands/cron.ts";
import { deleteCommand } from "./commands/delete.ts";
import { describeCommand } from "./commands/describe.ts";
import { diffCommand } from "./commands/diff.ts";
import { eventsCommand } from "./commands/events.ts";
import { execCommand } from "./commands/exec.ts";
import { explainCommand } from "./commands/explain.ts";
import { getCommand } from "./commands/get.ts";
import { identityCommand } from "./commands/identity.ts";
import { logsCommand } from "./commands/logs.ts";
import { pluginsCommand } from "./commands/plugins.ts";
import { psCommand } from "./commands/ps.ts";
import { hooksCommand } from "./commands/hooks.ts";
import { releaseCommand } from "./commands/release.ts";
import { releasesCommand } from "./commands/releases.ts";
import { restartCommand } from "./commands/restart.ts";
import { rollbackCommand } from "./commands/rollback.ts";
import { runCommand } from "./commands/run.ts";
import { scaleCommand } from "./commands/scale.ts";
import { startCommand } from "./commands/start.ts";
import { statsCommand } from "./commands/stats.ts";
import { stopCommand } from "./commands/stop.ts";
import { topCommand } from "./commands/top.ts";
import { versionCommand } from "./commands/version.ts";
import { whyCommand } from "./commands/why.ts";

/** The verbs of the client, in the order of the help. */
export const commands: readonly Command[] = [
  applyCommand,
  diffCommand,
  getCommand,
  describeCommand,
  psCommand,
  logsCommand,
  execCommand,
  statsCommand,
  topCommand,
  whyCommand,
  eventsCommand,
  hooksCommand,
  deleteCommand,
  configCommand,
  scaleCommand,
  restartCommand,
  releaseCommand,
  releasesCommand,
  rollbackCommand,
  runCommand,
  cronCommand,
  stopCommand,
  startCommand,
  pluginsCommand,
  identityCommand,
  explainCommand,
  versionCommand,
];

/** Commands that work on the machine itself: they are given their words as they are. */
export const localCommands = [
  { name: "serve", summary: "run the server" },
  { name: "doctor", summary: "check this machine and say how to mend what is wrong" },
  { name: "server", summary: "server unit: print the systemd unit that runs the server" },
  { name: "backup", summary: "write a copy of all state to a file" },
  { name: "hooks secret", summary: "print what receivers check the signature of webhooks with" },
  { name: "plugins init", summary: "write a plugin that works, to begin with" },
  { name: "plugins lint", summary: "say what is wrong with a plugin that is being written" },
  { name: "plugins test", summary: "run the commands of a plugin as the server would and compare their answers" },
  { name: "restore", summary: "bring back the state of a backup" },
] as const;

export type LocalName = (typeof localCommands)[number]["name"];
