import type { Surroundings } from "./client/entry/context.ts";
import { run } from "./client/entry/run.ts";
import { machineNetwork } from "./client/domains/network.ts";
import { createInterruption, createRunLocal, type Interruption } from "./client/basics/local-run.ts";
import { exitCodes } from "./client/basics/failures.ts";
import { complainNow, isUnread, openOutputs, type Outputs } from "./client/basics/output.ts";
import { processTerminal } from "./client/basics/raw-terminal.ts";
import { processStreams, readStdin } from "./client/basics/streams.ts";
import { clientLimits, clientOptions, limits, shellVariables } from "./config/config.ts";
import { direct } from "./base/wire/outgoing.ts";
import { systemClock } from "./base/words/clock.ts";
import { ownAgent } from "./compat/agent.ts";
import { calledAs } from "./compat/far-side/called-as.ts";
import type { FarSideWorld, Replaced } from "./compat/far-side/run.ts";
import { versionText } from "./version.ts";

/** Loaded when used: a client command pays nothing for the server. */
const local: Omit<Surroundings["local"], "server"> = {
  serve: async (args) => (await import("./local/serve.ts")).serveCommand(args),
  doctor: async (args) => (await import("./local/doctor.ts")).doctorCommand(args),
  move: async (args) => (await import("./local/move/command.ts")).moveCommand(args),
  "self-update": async (args) => (await import("./local/self-update.ts")).selfUpdateCommand(args),
  backup: async (args) => (await import("./local/backup.ts")).backupCommand(args),
  "receive-pack": async (args) => (await import("./local/push/receive-pack.ts")).receivePackCommand(args),
  "upload-pack": async (args) => (await import("./local/push/receive-pack.ts")).uploadPackCommand(args),
  "git-branch": async (args) => (await import("./local/push/branch.ts")).gitBranchCommand(args),
  "read-source": async (args) => (await import("./local/source/read-source.ts")).readSourceCommand(args),
  "copy-logs": async (args) => (await import("./local/stored-logs.ts")).copyLogsCommand(args),
  "name-server": async (args) => (await import("./local/names/command.ts")).nameServerCommand(args),
  "hooks secret": async (args) => (await import("./local/webhook-secret.ts")).webhookSecretCommand(args),
  "plugins init": async (args) => (await import("./local/plugin-init.ts")).pluginInitCommand(args),
  "plugins lint": async (args) => (await import("./local/plugin-lint.ts")).pluginLintCommand(args),
  "plugins test": async (args) => (await import("./local/plugin-test.ts")).pluginTestCommand(args),
  restore: async (args) => (await import("./local/restore.ts")).restoreCommand(args),
};

/** The command line as people use it; answers with the exit code. An answer that could not be written is a failure. */
export async function client(argv: readonly string[], bundled: Surroundings["bundled"]): Promise<number> {
  const outputs = openOutputs();
  const interruption = createInterruption();
  const around = surroundings(outputs, bundled, interruption);
  const prefix = await calledAs({ argv0: process.argv0, variables: shellVariables(), installed: installedPrefix });
  const ended =
    prefix === undefined ? await run(argv, around) : await asContractClient(around, { prefix, outputs, argv });
  const code = interruption.exitCodeOf(ended);
  const lost = await outputs.stdout.lost();
  if (lost === undefined || isUnread(lost)) return code;
  complainNow(`error: ${lost.message}`);
  return code === exitCodes.done ? exitCodes.failed : code;
}

function surroundings(
  outputs: Outputs,
  bundled: Surroundings["bundled"],
  { interruptible }: Interruption,
): Surroundings {
  const around: Surroundings = {
    version: versionText(),
    streams: processStreams(outputs),
    rawTerminal: processTerminal(outputs),
    network: machineNetwork,
    runLocal: createRunLocal(shellVariables()),
    stdin: readStdin,
    fetch: direct,
    clock: systemClock,
    limits: clientLimits,
    validation: { ...limits, problemsShownMax: clientLimits.faultsMax },
    variables: shellVariables(),
    cwd: process.cwd(),
    interruptible,
    options: clientOptions,
    local: {
      ...local,
      // Goes on with commands of the client.
      server: async (args) =>
        (await import("./local/server/command.ts")).serverCommand(args, async (words) => {
          const code = await run(words, around);
          // What the command goes on to say stands below.
          await outputs.stdout.lost();
          return code;
        }),
    },
    bundled,
  };
  return around;
}

/** The prefix of the server that is installed on this machine. */
async function installedPrefix(): Promise<string | undefined> {
  const { flagOf, installedWords } = await import("./local/server/systemd.ts");
  return flagOf(installedWords() ?? [], "prefix");
}

interface Called {
  /** The name that the executable is called by. */
  prefix: string;
  outputs: Outputs;
  argv: readonly string[];
}

async function asContractClient(own: Surroundings, { prefix, outputs, argv }: Called): Promise<number> {
  const { farSide } = await import("./compat/far-side/run.ts");
  const world: FarSideWorld = {
    prefix,
    variables: shellVariables(),
    async berth(words, replaced) {
      const { around, said } = instead(own, replaced);
      const code = await run(words, { ...around, agent: `${prefix}-cli/${versionText().split(" ")[0]} ${ownAgent}` });
      return { code, said: said() };
    },
    receive: async () => (await import("./local/source/receive-archive.ts")).receiveArchive(Bun.stdin.stream()),
    out: outputs.stdout.later,
    note: outputs.stderr.later,
    now: () => new Date(systemClock.now()),
  };
  return farSide(argv, world);
}

/** The same surroundings with other outputs; `said` tells whether something came out. */
function instead({ streams, rawTerminal, ...around }: Surroundings, { stdout, stderr, stdin }: Replaced) {
  let said = false;
  const counted = (write: (text: string) => void) => (text: string) => {
    said ||= text !== "";
    write(text);
  };
  const bytes = (write: (bytes: Uint8Array) => Promise<void>, replaced: ((text: string) => void) | undefined) => {
    const decoder = new TextDecoder();
    return async (part: Uint8Array) => {
      said ||= part.length > 0;
      if (replaced === undefined) await write(part);
      else replaced(decoder.decode(part, { stream: true }));
    };
  };
  return {
    said: () => said,
    around: {
      ...around,
      ...(stdin === undefined ? {} : { stdin: () => Promise.resolve(stdin) }),
      streams: {
        ...streams,
        stdout: counted(stdout ?? streams.stdout),
        stderr: counted(stderr ?? streams.stderr),
        stdoutIsTerminal: streams.stdoutIsTerminal && stdout === undefined,
        stderrIsTerminal: streams.stderrIsTerminal && stderr === undefined,
      },
      rawTerminal: {
        ...rawTerminal,
        stdout: bytes(rawTerminal.stdout, stdout),
        stderr: bytes(rawTerminal.stderr, stderr),
      },
    },
  };
}
