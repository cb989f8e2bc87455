import { actorHeader, createClient, versionHeader } from "../../base/wire/client.ts";
import type { Clock } from "../../base/words/clock.ts";
import type { ValidationLimits } from "../../orchestration/core/rules/rule.ts";
import type { Variables } from "../manifests/interpolate.ts";
import { ownName } from "../remote/address.ts";
import { remoteRoute, type Ways } from "../remote/reach.ts";
import { readRemotes } from "../remote/remotes.ts";
import { chooseTarget, type Target } from "../remote/target.ts";
import type { DeclaredPlugin } from "../text/plugin-text.ts";
import { versionNote } from "../text/version-note.ts";
import type { Network } from "../domains/network.ts";
import type { RunLocal } from "../basics/local-run.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { ClientLimits, CommandTable, Context } from "../shell/command.ts";
import { localCommands } from "../basics/local-commands.ts";
import { loaded, verbs } from "./table.ts";
import { connect, endpointRoute, type PlatformFetch, type Route } from "../basics/endpoint.ts";
import { usageFailure } from "../basics/failures.ts";
import type { RawTerminal } from "../basics/raw-terminal.ts";
import type { LocalName } from "../basics/local-commands.ts";
import type { Streams, Terminal } from "../basics/terminal.ts";

export type Format = "text" | "json" | "yaml" | "name";

/** What the environment and the global flags say, as `config/client-options.ts` reads it. */
export interface ClientOptions {
  /** Which server the operator names: by flags, or where no flag names one, by variables. */
  named: { endpoint?: string; remote?: string };
  /** The server of this machine: `http://host:port`. */
  ownEndpoint: string;
  /** File of the remotes. */
  remotesFile: string;
  /** Folder of the sockets of tunnels. */
  tunnelsFolder: string;
  /** Handed to `ssh`: a configuration file in place of the user's, and a private key. */
  ssh: { configFile?: string; identity?: string };
  /** Who the event log names. */
  actor: string;
  color: boolean;
  /** Answers every question with yes. */
  autoApprove: boolean;
}

/** The world as `client.ts` hands it to the client. */
export interface Surroundings {
  version: string;
  /** What requests are sent as; default: berth itself. */
  agent?: string;
  streams: Streams;
  rawTerminal: RawTerminal;
  runLocal: RunLocal;
  network: Network;
  /** All of stdin. */
  stdin: () => Promise<string>;
  fetch: PlatformFetch;
  clock: Clock;
  limits: ClientLimits;
  validation: ValidationLimits;
  variables: Variables;
  cwd: string;
  /** From now on Ctrl-C aborts the signal and does not end the process. */
  interruptible: () => AbortSignal;
  options: (flags: { endpoint?: string; remote?: string }, terminal: boolean) => ClientOptions;
  local: Record<LocalName, (args: string[]) => Promise<number>>;
  /** What the plugins of this executable declare, for help without a server. */
  bundled: () => Promise<readonly DeclaredPlugin[]>;
}

interface Parts {
  format: Format;
  terminal: Terminal;
  around: Surroundings;
  signal: AbortSignal;
  target: Target;
}

/** The servers that a command line names. `allServers`: the command needs none beforehand. */
export function targetOf(args: Arguments, { options, streams, limits }: Surroundings, allServers: boolean): Target {
  const { named, ownEndpoint, remotesFile } = options(namedByFlags(args), streams.stdoutIsTerminal);
  return chooseTarget(allServers ? { remote: ownName } : named, ownEndpoint, () =>
    readRemotes(remotesFile, limits.tunnel),
  );
}

const table: CommandTable = {
  names: [...verbs, ...localCommands].map(({ name }) => name.split(" ")[0] ?? name),
  async load(name) {
    const verb = verbs.find((one) => one.name === name);
    return verb === undefined ? undefined : loaded(verb);
  },
};

/** What a command gets of the world, and the way to its server. */
export function contextOf(args: Arguments, { format, terminal, around, signal, target }: Parts): Context {
  const { clock, limits, validation, variables, cwd, version, fetch } = around;
  const options = around.options(namedByFlags(args), around.streams.stdoutIsTerminal);
  const { actor, autoApprove, remotesFile, tunnelsFolder, ssh } = options;
  const { asks } = terminal;
  const ways: Ways = { tunnelsFolder, ssh, asks, variables, fetch, clock, limits: limits.tunnel, signal };
  const route = routeTo(target, ways);
  const headers = {
    [actorHeader]: headerText(actor),
    "User-Agent": around.agent ?? `berth/${version}`,
  };
  const asked = tellingVersions(fetch, version, terminal);
  const connectTo = (way: Route) => {
    const tell = () =>
      terminal.note(terminal.noteStyle.dim(`no answer from ${way.shown} yet: is the connection alive?`));
    const late = { afterMs: limits.tunnel.lateMs, tell };
    return connect({ route: way, fetch: asked, signal, answerMs: limits.answerMs, late });
  };
  const { baseUrl, ...connection } = connectTo(route);
  const newKey = () => crypto.randomUUID();
  const reach = (way: Route) => createClient({ ...connectTo(way), headers, newKey });
  return {
    commands: table,
    reach: (endpoint) => reach(endpointRoute(endpoint)),
    remotes: {
      file: remotesFile,
      ways,
      reach: (remote) => reach(remoteRoute(remote, ways)),
      chosen: target.type === "remote" ? target.remote : undefined,
      byVariable: namedByVariable(around.options({}, around.streams.stdoutIsTerminal)),
    },
    runLocal: around.runLocal,
    network: around.network,
    api: createClient({ baseUrl, fetch: connection.fetch, headers, newKey }),
    streams: createClient({ baseUrl, fetch: connection.stream, headers, newKey }),
    headers,
    route,
    endpoint: route.shown,
    version,
    terminal,
    rawTerminal: around.rawTerminal,
    clock,
    limits,
    validation,
    json: format === "json",
    yaml: format === "yaml",
    names: format === "name",
    autoApprove,
    cwd,
    variables,
    stdin: around.stdin,
    signal,
  };
}

function namedByVariable({ named: { endpoint, remote } }: ClientOptions): string | undefined {
  if (endpoint !== undefined) return `BERTH_ENDPOINT=${endpoint}`;
  return remote === undefined ? undefined : `BERTH_REMOTE=${remote}`;
}

/** The flags by which a command line names its server. */
export function namedByFlags(args: Arguments): { endpoint?: string; remote?: string } {
  const [endpoint, remote] = [args.value("endpoint"), args.value("remote")];
  return { ...(endpoint === undefined ? {} : { endpoint }), ...(remote === undefined ? {} : { remote }) };
}

function routeTo(target: Target, ways: Ways): Route {
  if (target.type === "endpoint") return endpointRoute(target.endpoint);
  if (target.type === "remote") return remoteRoute(target.remote, ways);
  const names = target.remotes.map(({ name }) => name).join(", ");
  throw usageFailure(`"${target.name}" is a group of remotes (${names}): say which one`);
}

/** Says once that a server has another version. */
function tellingVersions(fetch: PlatformFetch, version: string, terminal: Terminal): PlatformFetch {
  let isTold = false;
  return async (url, init) => {
    const answer = await fetch(url, init);
    const note = isTold ? undefined : versionNote(version, answer.headers.get(versionHeader) ?? "");
    if (note !== undefined) terminal.note(terminal.noteStyle.yellow(note));
    isTold ||= note !== undefined;
    return answer;
  };
}

/** Header values are visible ASCII. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
