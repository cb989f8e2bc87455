import type { Client } from "../../base/wire/client.ts";
import type { ValidationLimits } from "../../orchestration/core/rules/rule.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { Arguments, Flag } from "../basics/arguments.ts";
import type { Route } from "../basics/endpoint.ts";
import type { Ways } from "../remote/reach.ts";
import type { Remote, RemoteLimits } from "../remote/remotes.ts";
import type { TunnelLimits } from "../remote/tunnel.ts";
import type { Network } from "../domains/network.ts";
import type { RunLocal } from "../basics/local-run.ts";
import type { Variables } from "../manifests/interpolate.ts";
import { exitCodes } from "../basics/failures.ts";
import type { RawTerminal } from "../basics/raw-terminal.ts";
import type { Terminal } from "../basics/terminal.ts";

/** One verb of the client. */
export interface Command {
  name: string;
  /** One line of `help`. */
  summary: string;
  /** Its forms, without the program name. */
  usage: readonly string[];
  /** Command lines to copy, without the program name; an explanation stands after two blanks. */
  examples?: readonly string[];
  /** What the help says beyond the flags. */
  detail?: readonly string[];
  flags: readonly Flag[];
  /** From this word on (1 is the first) nothing is a flag: it belongs to somebody else's command line. */
  restFromWord?: number;
  /** Knows `-o yaml`. */
  yaml?: boolean;
  /** Knows `-o name`. */
  names?: boolean;
  /** Lists: see `withListing`. */
  lists?: Listing;
  /** Only reads, and can be asked of a group of remotes. */
  groups?: boolean;
  /** Is about servers in general: its words name them, and no flag or variable does. */
  allServers?: boolean;
  /** Narrower commands: the next word picks one. */
  commands?: readonly Command[];
  /** Answers with the exit code; throws `CommandFailure` and `ApiError`. */
  run(context: Context, args: Arguments): Promise<number>;
}

/** What a command that lists says of its rows, so that it knows `-o yaml`, `-o name` and `--watch` like every other. */
export interface Listing {
  /** Whether these words list; default: always. */
  when?: (words: readonly string[]) => boolean;
  /** The rows in what the command answers with. */
  rows: (data: unknown) => readonly unknown[];
  /** What other commands call a row. */
  name: (row: unknown) => string;
}

/** What `table.ts` does not say of a verb. */
export type CommandBody = Omit<Command, "name" | "summary">;

/** The commands of this program, for what lists them. */
export interface CommandTable {
  /** In the order of the help; of those of the machine the first word. */
  names: readonly string[];
  /** Undefined for a word that is none of the client's own. */
  load(name: string): Promise<Command | undefined>;
}

/** A verb of the client: what the overview says of it, and where the rest is. */
export interface Verb {
  name: string;
  /** One line of `help`. */
  summary: string;
  load(): Promise<CommandBody>;
}

/** What a command needs of the world. */
export interface Context {
  commands: CommandTable;
  api: Client;
  /** Like `api`, for answers that go on for ever: only their head has a limit. */
  streams: Client;
  /** A client of another server, `http://…` or `unix:…`. */
  reach(endpoint: string): Client;
  /** The servers that are reached by ssh. */
  remotes: RemoteWays;
  /** Headers of every request. */
  headers: Record<string, string>;
  /** The way to the server. */
  route: Route;
  /** How the server is reached, for messages. */
  endpoint: string;
  version: string;
  terminal: Terminal;
  rawTerminal: RawTerminal;
  runLocal: RunLocal;
  network: Network;
  clock: Clock;
  limits: ClientLimits;
  /** What the server allows in a manifest, of this version. */
  validation: ValidationLimits;
  /** `-o json`: the envelope on stdout and nothing else there. */
  json: boolean;
  /** `-o yaml`, of commands with `yaml`. */
  yaml: boolean;
  /** `-o name`, of commands with `names`: a line for each, to be given to another command. */
  names: boolean;
  /** How a list is shown with `-o yaml` and `-o name`; undefined: as it is. */
  listForm?: (data: unknown) => string;
  /** Gets what a command answers with, for callers that look whether it has changed. */
  told?: (data: unknown) => void;
  /** BERTH_AUTO_APPROVE: every question is answered with yes. */
  autoApprove: boolean;
  cwd: string;
  variables: Variables;
  /** All of stdin. */
  stdin(): Promise<string>;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

interface RemoteWays {
  /** Where they are stored. */
  file: string;
  ways: Ways;
  reach(remote: Remote): Client;
  /** The one that this command is for; undefined where it is for an address. */
  chosen: Remote | undefined;
  /** What a variable of the shell names: it wins over the default remote. */
  byVariable: string | undefined;
}

export interface ClientLimits {
  answerMs: number;
  pollMs: number;
  waitMs: number;
  silenceMs: number;
  certificateMs: number;
  certificateSeenMs: number;
  manifestFilesMax: number;
  fileBytesMax: number;
  manifestDepthMax: number;
  manifestDocumentsMax: number;
  manifestNodesMax: number;
  faultsShownMax: number;
  assetFolderFilesMax: number;
  assetFolderBytesMax: number;
  folder: { filesMax: number; bytesMax: number; textBytesMax: number };
  copy: { filesMax: number; bytesMax: number };
  forwardsMax: number;
  forwardBytesMax: number;
  logStreamsMax: number;
  followMs: number;
  topMs: number;
  tunnel: TunnelLimits & RemoteLimits & { holdMs: number; lateMs: number };
}

/** With `-o json` the envelope of `data`; else the text that `human` makes. Returns the exit code of a command that is done. */
export function answer(context: Context, data: unknown, human: () => string): number {
  return told(context, data, () => {
    const text = human();
    if (text !== "") context.terminal.out(text);
  });
}

/** Like `answer`, for values that other programs read, such as one of a config: they are printed as they are. */
export function answerData(context: Context, data: unknown, values: () => string): number {
  return told(context, data, () => context.terminal.data(values()));
}

function told(context: Context, data: unknown, print: () => void): number {
  context.told?.(data);
  const list = context.json ? JSON.stringify({ status: "ok", data }, null, 2) : context.listForm?.(data);
  if (list === undefined) print();
  else if (list !== "") context.terminal.out(list);
  return exitCodes.done;
}
