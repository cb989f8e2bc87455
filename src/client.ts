import type { Surroundings } from "./client/shell/context.ts";
import { run } from "./client/shell/run.ts";
import { machineNetwork } from "./client/domains/network.ts";
import { createRunLocal } from "./client/session/local-run.ts";
import { exitCodes } from "./client/shell/failures.ts";
import { complainNow, isUnread, openOutputs, type Outputs } from "./client/shell/output.ts";
import { processTerminal } from "./client/shell/raw-terminal.ts";
import { processStreams, readStdin } from "./client/shell/streams.ts";
import { clientLimits, clientOptions, limits, shellVariables } from "./config/config.ts";
import { direct } from "./base/wire/outgoing.ts";
import { systemClock } from "./base/words/clock.ts";
import { versionText } from "./version.ts";

/** Loaded when used: a client command pays nothing for the server. */
const local: Surroundings["local"] = {
  serve: async (args) => (await import("./local/serve.ts")).serveCommand(args),
  doctor: async (args) => (await import("./local/doctor.ts")).doctorCommand(args),
  server: async (args) => (await import("./local/server/command.ts")).serverCommand(args),
  "self-update": async (args) => (await import("./local/self-update.ts")).selfUpdateCommand(args),
  backup: async (args) => (await import("./local/backup.ts")).backupCommand(args),
  "receive-pack": async (args) => (await import("./local/push/receive-pack.ts")).receivePackCommand(args),
  "upload-pack": async (args) => (await import("./local/push/receive-pack.ts")).uploadPackCommand(args),
  "git-branch": async (args) => (await import("./local/push/branch.ts")).gitBranchCommand(args),
  "read-source": async (args) => (await import("./local/source/read-source.ts")).readSourceCommand(args),
  "hooks secret": async (args) => (await import("./local/webhook-secret.ts")).webhookSecretCommand(args),
  "plugins init": async (args) => (await import("./local/plugin-init.ts")).pluginInitCommand(args),
  "plugins lint": async (args) => (await import("./local/plugin-lint.ts")).pluginLintCommand(args),
  "plugins test": async (args) => (await import("./local/plugin-test.ts")).pluginTestCommand(args),
  restore: async (args) => (await import("./local/restore.ts")).restoreCommand(args),
};

/** The second Ctrl-C ends the process whatever it is doing. */
function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.on("SIGINT", () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  });
  return controller.signal;
}

/** The command line as people use it; answers with the exit code. An answer that could not be written is a failure. */
export async function client(argv: readonly string[]): Promise<number> {
  const outputs = openOutputs();
  const code = await runWith(outputs, argv);
  const lost = await outputs.stdout.lost();
  if (lost === undefined || isUnread(lost)) return code;
  complainNow(`error: ${lost.message}`);
  return code === exitCodes.done ? exitCodes.failed : code;
}

function runWith(outputs: Outputs, argv: readonly string[]): Promise<number> {
  return run(argv, {
    version: versionText(),
    streams: processStreams(outputs),
    rawTerminal: processTerminal(outputs),
    network: machineNetwork,
    runLocal: createRunLocal(shellVariables()),
    stdin: readStdin,
    fetch: direct,
    clock: systemClock,
    limits: clientLimits,
    validation: limits,
    variables: shellVariables(),
    cwd: process.cwd(),
    interruptible,
    options: clientOptions,
    local,
  });
}
