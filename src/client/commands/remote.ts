import { statSync } from "node:fs";
import { resolve } from "node:path";
import { health } from "../../orchestration/api/health.ts";
import { addressText, ownName, parseSshAddress, readName, readSocket } from "../remote/address.ts";
import { closeRemote } from "../remote/reach.ts";
import { type Remote, readRemotes, type Remotes, writeRemotes } from "../remote/remotes.ts";
import { chooseTarget } from "../remote/target.ts";
import { remoteText } from "../remote/tunnel-files.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { didYouMean } from "../basics/suggest.ts";
import { printable } from "../basics/style.ts";
import { oneWord, verbOf } from "../shell/words.ts";
import { tableText } from "../basics/table-text.ts";
import { rowsOf, whenListing } from "../shell/listing.ts";

const actions = { add, list, test, use, remove, rm: remove };

export const remoteCommand: CommandBody = {
  usage: [
    "remote [list]",
    "remote add NAME [USER@]HOST[:PORT] [--identity FILE] [--group NAME]… [--default]",
    "remote test [NAME]",
    "remote use NAME | local",
    "remote remove NAME",
  ],
  examples: [
    "remote add production deploy@shop.example.com  store a server, which becomes the default",
    "remote test  sign in, and show the version of the server",
    "remote use local  from now on the server of this machine",
  ],
  detail: [
    "A remote is a server that is reached by ssh: keys, jump hosts and host keys are those of your ssh.",
    "Then -r NAME sends a command there. The first remote becomes the default: commands go to it unless",
    "-r, --endpoint or a variable names another server. The connection stays open for 10 minutes after",
    "the last command. -r USER@HOST names a server that is not stored.",
  ],
  flags: [
    {
      name: "identity",
      short: "i",
      value: "FILE",
      summary: "private key, where ssh does not choose the right one",
    },
    { name: "socket", value: "PATH", summary: "the server's socket there (/opt/berth/run/berth.sock)" },
    { name: "group", value: "NAME", repeat: true, summary: "put it into a group of remotes" },
    { name: "default", summary: "use it where no server is named" },
    { name: "replace", summary: "change a remote of this name" },
  ],
  lists: whenListing("list", rowsOf("remotes", "name"), { byDefault: true }),
  allServers: true,
  async run(context, args) {
    const { action, words } = verbOf(actions, "remote", args);
    return action({ words, args, context, stored: stored(context) });
  },
};

interface Call {
  words: string[];
  args: Arguments;
  context: Context;
  stored: Remotes;
}

function stored({ remotes, limits }: Context): Remotes {
  return readRemotes(remotes.file, limits.tunnel);
}

async function add({ words, args, context, stored }: Call): Promise<number> {
  const [name, address, ...more] = words;
  if (name === undefined || address === undefined || more.length > 0) {
    throw usageFailure("say its name and where it is: remote add NAME user@host");
  }
  const [identity, socket] = [args.value("identity"), args.value("socket")];
  const remote: Remote = {
    name: readName(name),
    ...parseSshAddress(address),
    ...(identity === undefined ? {} : { identity: keyFile(identity, context) }),
    ...(socket === undefined ? {} : { socket: readSocket(socket) }),
    groups: args.values("group").map(readName),
  };
  requireFree(remote, stored, args.on("replace"));
  const isDefault = args.on("default") || stored.list.length === 0 || stored.default === name;
  const others = stored.list.filter((other) => other.name !== name);
  const kept = isDefault ? name : stored.default;
  writeRemotes(context.remotes.file, {
    ...(kept === undefined ? {} : { default: kept }),
    list: [...others, remote].toSorted((a, b) => a.name.localeCompare(b.name)),
  });
  answer(context, { remote: shown(remote, kept) }, () =>
    [
      `${remoteText(remote)} is stored${isDefault ? ", and is the default" : ""}`,
      `  try it:  berth remote test ${name}`,
    ].join("\n"),
  );
  if (isDefault) tellVariable(context);
  return exitCodes.done;
}

/** One name means one thing: a remote or a group. */
function requireFree(remote: Remote, { list }: Remotes, replace: boolean): void {
  const same = list.find(({ name }) => name === remote.name);
  if (same !== undefined && !replace) {
    throw usageFailure(`the remote ${remoteText(same)} exists already: add --replace to change it`);
  }
  const groups = new Set([...list.filter((other) => other !== same), remote].flatMap(({ groups: own }) => own));
  const names = [remote.name, ...list.map(({ name }) => name)];
  const both = names.find((name) => groups.has(name));
  if (both !== undefined) throw usageFailure(`"${both}" would be a remote and a group of remotes: choose another name`);
}

function keyFile(text: string, { cwd }: Context): string {
  const path = text.startsWith("~/") ? text : resolve(cwd, text);
  if (!text.startsWith("~/") && statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new CommandFailure(`the key file ${path} does not exist`);
  }
  return path;
}

async function list({ words, context, stored }: Call): Promise<number> {
  if (words.length > 0) throw usageFailure("remote list takes no words");
  const remotes = stored.list.map((remote) => shown(remote, stored.default));
  return answer(context, { remotes }, () => {
    if (remotes.length === 0) return "no remotes; add one with: berth remote add NAME user@host";
    const rows = remotes.map(({ name, address, identity = "", groups, default: standard }) => {
      return [name, address, standard ? "yes" : "", groups.join(","), identity];
    });
    const { style, width } = context.terminal;
    return tableText([["NAME", "ADDRESS", "DEFAULT", "GROUPS", "IDENTITY"], ...rows], { width, head: style.dim });
  });
}

function shown(remote: Remote, standard: string | undefined) {
  const { name, identity, socket, groups } = remote;
  return {
    name,
    address: addressText(remote),
    default: name === standard,
    groups,
    identity,
    socket,
  };
}

async function test({ words, context, stored }: Call): Promise<number> {
  const [name, ...more] = words;
  if (more.length > 0) throw usageFailure("remote test takes one name");
  const target = chooseTarget({ remote: name ?? stored.default ?? ownName }, "", () => stored);
  if (target.type === "endpoint") throw usageFailure("say which: remote test NAME; see: berth remote list");
  const remotes = target.type === "group" ? target.remotes : [target.remote];
  const results: Awaited<ReturnType<typeof tried>>[] = [];
  for (const remote of remotes) results.push(await tried(context, remote));
  const failed = results.some(({ error }) => error !== undefined);
  if (context.json && failed) {
    const texts = results.flatMap(({ error }) => error ?? []);
    throw new CommandFailure(texts.join("\n"), exitCodes.unreachable);
  }
  answer(context, { remotes: results }, () => results.map(resultText(context)).join("\n"));
  return failed ? exitCodes.unreachable : exitCodes.done;
}

async function tried(context: Context, remote: Remote) {
  const started = performance.now();
  try {
    const { version } = await context.remotes.reach(remote).call(health);
    return { name: remote.name, version, ms: Math.round(performance.now() - started), error: undefined };
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.exitCode === exitCodes.interrupted) throw error;
    return { name: remote.name, version: undefined, ms: Math.round(performance.now() - started), error: error.message };
  }
}

function resultText({ terminal: { style } }: Context) {
  return ({ name, version, ms, error }: Awaited<ReturnType<typeof tried>>) =>
    error === undefined ? `${style.green("✓")} ${name}: berth ${version}, ${ms} ms` : `${style.red("✗")} ${error}`;
}

async function use({ words, context, stored }: Call): Promise<number> {
  const name = oneWord({ words }, `which: remote use NAME, or remote use ${ownName}`);
  if (name !== ownName) find(stored, name);
  writeRemotes(context.remotes.file, { list: stored.list, ...(name === ownName ? {} : { default: name }) });
  answer(context, { default: name === ownName ? null : name }, () =>
    name === ownName ? "commands go to the server of this machine" : `commands go to ${name}`,
  );
  tellVariable(context);
  return exitCodes.done;
}

/** A default has no effect in a shell that names a server, such as one that tried the demo. */
function tellVariable({ remotes: { byVariable }, json, terminal }: Context): void {
  if (byVariable === undefined || json) return;
  const [name = ""] = byVariable.split("=");
  terminal.note(`! ${printable(byVariable)} wins in this shell: unset ${name}`);
}

async function remove({ words, context, stored }: Call): Promise<number> {
  const name = oneWord({ words }, "which: remote remove NAME");
  const remote = find(stored, name);
  const left = stored.list.filter((other) => other !== remote);
  const standard = stored.default === name ? undefined : stored.default;
  writeRemotes(context.remotes.file, { list: left, ...(standard === undefined ? {} : { default: standard }) });
  await closeRemote(remote, context.remotes.ways);
  answer(context, { removed: name }, () => `${name} is removed; nothing changed on the server`);
  if (stored.default === name && !context.json) {
    context.terminal.note("it was the default: commands go to the server of this machine now");
  }
  return exitCodes.done;
}

function find({ list }: Remotes, name: string): Remote {
  const remote = list.find((other) => other.name === name);
  if (remote !== undefined) return remote;
  const names = list.map((other) => other.name);
  throw usageFailure(`no remote "${name}"${didYouMean(name, names) || "; see: berth remote list"}`);
}
