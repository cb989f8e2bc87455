import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { askedPod, type Cluster, tool } from "../../kit/cluster.ts";
import type { PodRecord } from "../../../src/orchestration/api/pods.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError, usage } from "../../kit.ts";
import { redisKind } from "../server.ts";

const queryMs = 15_000;
const answerCharactersMax = 1024 * 1024;

/** Commands that read and can still stop the server for everybody else: programs, and a look at every key. */
const stopping: Readonly<Record<string, string>> = {
  keys: "use SCAN, which goes step by step",
  eval_ro: "scripts are not run here",
  evalsha_ro: "scripts are not run here",
  fcall_ro: "functions are not run here",
};

/** `query SCOPE/NAME -- COMMAND…`: one command that the server itself calls read-only. */
export async function query(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["replica"] });
  noMoreThan(args.words, 1);
  const [name = ""] = args.rest;
  if (name === "") throw usage("write the command after --, such as -- get greeting");
  if (!/^[a-z][a-z0-9_.-]*$/i.test(name)) throw usage(`"${name}" is not the name of a command`);
  const hint = stopping[name.toLowerCase()];
  if (hint !== undefined) throw usage(`${name} can stop the server for all others: ${hint}`);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const pod = askedPod(cluster, args.values.replica);
  await requireReading(cluster, pod, args.rest);
  const answer = await tool(cluster, { pod, args: ["shell", ...args.rest], timeoutMs: queryMs });
  const isLong = answer.length > answerCharactersMax;
  return { message: isLong ? `${answer.slice(0, answerCharactersMax)}\n(cut off here)` : answer };
}

/** The server says what a command does; of one with subcommands, what the subcommand does. */
async function requireReading(cluster: Cluster, pod: PodRecord, [name = "", sub]: readonly string[]): Promise<void> {
  const flags = await flagsOf(cluster, pod, name.toLowerCase());
  const isWord = sub !== undefined && /^[a-z]+$/i.test(sub);
  const own = isWord ? await flagsOf(cluster, pod, `${name}|${sub}`.toLowerCase()) : [];
  const told = own.length > 0 ? own : flags;
  if (told.length === 0) throw new PluginError(`the server knows no command "${name}"`);
  if (told.includes("readonly") && !told.includes("blocking")) return;
  throw new PluginError(`${name} is not a command that only reads: the server calls it ${told.join(", ")}`);
}

async function flagsOf(cluster: Cluster, pod: PodRecord, name: string): Promise<string[]> {
  return commandFlags(await tool(cluster, { pod, args: ["shell", "command", "info", name], timeoutMs: queryMs }));
}

/** The flags in COMMAND INFO as redis-cli prints it, a line each: name, arity, flags, first key… */
export function commandFlags(text: string): string[] {
  const [name = "", arity = "", ...rest] = text
    .replaceAll("\r", "")
    .split("\n")
    .map((line) => line.trim());
  if (name === "" || !/^-?\d+$/.test(arity)) return [];
  const end = rest.findIndex((line) => /^-?\d+$/.test(line));
  return (end < 0 ? rest : rest.slice(0, end)).filter((line) => line !== "");
}
