import { run, type Surroundings } from "./cli/run.ts";
import { openOutputs } from "./cli/output.ts";
import { processTerminal } from "./cli/raw-terminal.ts";
import { processStreams, readStdin } from "./cli/streams.ts";
import { clientLimits, clientOptions, shellVariables } from "./config.ts";
import { systemClock } from "./lib/clock.ts";
import { versionText } from "./version.ts";

/** Loaded when used: a client command pays nothing for the server. */
const local: Surroundings["local"] = {
  serve: async (args) => (await import("./local/serve.ts")).serveCommand(args),
  doctor: async (args) => (await import("./local/doctor.ts")).doctorCommand(args),
  server: async (args) => (await import("./local/unit.ts")).serverCommand(args),
  backup: async (args) => (await import("./local/backup.ts")).backupCommand(args),
  "hooks secret": async (args) => (await import("./local/hook-secret.ts")).hookSecretCommand(args),
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

const outputs = openOutputs();
process.exitCode = await run(process.argv.slice(2), {
  version: versionText(),
  streams: processStreams(outputs),
  rawTerminal: processTerminal(outputs),
  stdin: readStdin,
  fetch,
  clock: systemClock,
  limits: clientLimits,
  variables: shellVariables(),
  cwd: process.cwd(),
  interruptible,
  options: clientOptions,
  local,
});
