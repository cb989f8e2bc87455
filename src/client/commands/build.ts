import { resolve } from "node:path";
import { readAnswer } from "../../base/wire/client.ts";
import {
  type Build,
  buildLog,
  cancelBuild,
  followBuild,
  listBuilds,
  retryBuild,
} from "../../orchestration/api/builds.ts";
import { buildChoices, buildFlags } from "../build/build-flags.ts";
import { planBuilds } from "../build/of-manifests.ts";
import { planBuild } from "../build/plan.ts";
import { announce, runBuild } from "../build/run.ts";
import type { Arguments } from "../basics/arguments.ts";
import { createHarmlessBytes, harmlessText } from "../text/harmless-bytes.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { fileFlag, formatFlag, manifestsOf } from "../shell/manifest-flags.ts";
import { printable } from "../basics/style.ts";
import { resourceReference } from "../basics/reference.ts";
import { optionalWord } from "../shell/words.ts";
import { tableText } from "../basics/table-text.ts";
import { timeText } from "../text/time-text.ts";
import { tableSetup } from "./get.ts";
import { rowsOf } from "../shell/listing.ts";

const commands: readonly Command[] = [
  {
    name: "list",
    summary: "list what was built, newest first",
    usage: ["build list [SCOPE/NAME]"],
    flags: [],
    lists: rowsOf("builds", "id"),
    run: listOf,
  },
  {
    name: "log",
    summary: "print the output of a build",
    usage: ["build log SCOPE/NAME ID [--follow]"],
    flags: [
      { name: "follow", summary: "go on until the build ends" },
      { name: "raw", summary: "with colours and all else that drives a terminal; only with --follow" },
    ],
    run: logOf,
  },
  {
    name: "cancel",
    summary: "end a build: nothing of it is deployed",
    usage: ["build cancel SCOPE/NAME ID"],
    flags: [],
    run: (context, args) => tell(context, "cancel", args),
  },
  {
    name: "retry",
    summary: "build the same source once more",
    usage: ["build retry SCOPE/NAME ID"],
    flags: [],
    run: (context, args) => tell(context, "retry", args),
  },
];

export const buildCommand: CommandBody = {
  usage: ["build -f PATH… [--secret id=ID,env=NAME] [--again]", "build --print [FOLDER]"],
  examples: [
    "build -f berth.yaml --secret id=npm,src=.npmrc  a secret for steps that mount it",
    "build -f berth.yaml  build the images, deploy nothing",
    "build --print  show the Dockerfile that berth makes",
    "build list shop/web  what was built, newest first",
  ],
  detail: [
    "berth apply builds by itself what has a build block; this command is for looking first. The server",
    "builds one image at a time, with little weight and at most half of the memory, so that what runs",
    "does not notice. The same source gives the same image: it is not sent and not built again. Ctrl-C",
    "ends the build. A folder without a Dockerfile gets one by its framework or language: node, bun,",
    "deno, python, ruby, php, go, rust, java, dotnet, elixir, hugo, or static pages.",
  ],
  flags: [
    fileFlag,
    formatFlag,
    ...buildFlags,
    { name: "latest", summary: "name each image SCOPE-NAME:latest too, for other programs" },
    { name: "again", summary: "build also where the image is there already" },
    { name: "print", summary: "print the Dockerfile that is made for a folder without one" },
  ],
  commands,
  async run(context, args) {
    if (args.on("print")) return printDockerfile(context, args);
    const set = await manifestsOf(args, context, "build");
    const builds = await planBuilds(set, context.limits.folder);
    if (builds.length === 0) throw new CommandFailure("no manifest has a build block: there is nothing to build");
    const choices = buildChoices(args, context, { again: args.on("again") });
    for (const build of builds) {
      announce(context, build, builds);
      await runBuild(context, build, choices);
    }
    return exitCodes.done;
  },
};

async function printDockerfile(context: Context, { words }: Arguments): Promise<number> {
  const folder = optionalWord({ words }, "build --print FOLDER") ?? ".";
  const directory = resolve(context.cwd, folder);
  const { generated, dockerfile } = await planBuild(
    { scope: "any", name: "app", build: {}, directory },
    context.limits.folder,
  );
  if (generated === undefined) throw new CommandFailure(`the folder has ${dockerfile}, which is used as it is`);
  context.terminal.note(
    `${generated.runtime}, because of ${generated.because}; the program listens on ${generated.port ?? "no port"}`,
  );
  for (const note of generated.notes) context.terminal.note(printable(note));
  context.terminal.out(generated.dockerfile.trimEnd());
  return exitCodes.done;
}

async function listOf(context: Context, args: Arguments): Promise<number> {
  const text = optionalWord(args, "build list SCOPE/NAME");
  const query = text === undefined ? {} : namesOf(text);
  const data = await context.api.call(listBuilds, { query });
  return answer(context, data, () => {
    if (data.builds.length === 0) return "no builds";
    const rows = data.builds.map((build) => [
      `${build.scope}/${build.name}`,
      build.id,
      build.status,
      timeText(build.started_at),
      tookText(build),
      sourceText(build),
      build.error ?? "",
    ]);
    return tableText([["APP", "BUILD", "STATUS", "STARTED", "TOOK", "SOURCE", "ERROR"], ...rows], tableSetup(context));
  });
}

function namesOf(text: string): { scope: string; name: string } {
  const { scope = "", name } = resourceReference(text);
  return { scope, name };
}

/** The commit, or the beginning of the digest of the folder. */
function sourceText({ git, context }: Build): string {
  if (git === undefined) return `folder ${context.slice(0, 12)}`;
  return printable([git.ref, git.commit.slice(0, 12)].filter((part) => part !== undefined).join(" "));
}

function tookText({ started_at, ended_at }: Build): string {
  return ended_at === undefined ? "" : `${Math.round((Date.parse(ended_at) - Date.parse(started_at)) / 1000)}s`;
}

function readBuild(verb: string, { words: [text, id, ...more] }: Arguments) {
  if (text === undefined || id === undefined || more.length > 0)
    throw usageFailure(`say which: build ${verb} SCOPE/NAME ID`);
  return { params: { ...namesOf(text), id } };
}

async function logOf(context: Context, args: Arguments): Promise<number> {
  const input = readBuild("log", args);
  if (args.on("follow")) {
    const response = await context.api.raw(followBuild, input);
    if (!response.ok) readAnswer(followBuild, response.status, await response.text());
    const door = args.on("raw") ? undefined : createHarmlessBytes();
    const { stdout } = context.rawTerminal;
    if (response.body !== null) for await (const part of response.body) await stdout(door?.push(part) ?? part);
    if (door !== undefined) await stdout(door.end());
    return exitCodes.done;
  }
  const data = await context.api.call(buildLog, input);
  return answer(context, data, () => harmlessText(data.log).trimEnd());
}

async function tell(context: Context, verb: "cancel" | "retry", args: Arguments): Promise<number> {
  const input = readBuild(verb, args);
  const data = await context.api.call(verb === "cancel" ? cancelBuild : retryBuild, input);
  const { scope, name, id, status } = data.build;
  const next = verb === "cancel" ? "" : `; follow it with berth build log ${scope}/${name} ${id} --follow`;
  return answer(context, data, () => `build ${id} of ${scope}/${name} is ${status}${next}`);
}
