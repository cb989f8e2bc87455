import { writeWhole } from "../basics/write-whole.ts";
import { dirname, resolve } from "node:path";
import type { ImportedFile, ImportSetup } from "../manifests/compose/files.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import type { Arguments } from "../basics/arguments.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { oneWord, optionalWord } from "../shell/words.ts";

const composeDetail = [
  "Prints manifests that do what a Compose file does: a deployment for each service, and an asset of",
  "the files that services mount. Reads what Compose reads: override files, extends, include, profiles",
  "and the .env beside the file, whose values become defaults. Services that others wait for until",
  "they are done become init steps. Paths start at the working directory, or at the file of --write.",
  "What needs a change by hand is reported on stderr, one line a kind. Nothing is sent to a server.",
];

const scopeFlag = {
  name: "scope",
  value: "NAME",
  summary: "of all manifests; default: the name in the file, or the folder",
};
const outputFlags = [
  { name: "to", value: "LANGUAGE", summary: "yaml (default) or hcl" },
  { name: "write", value: "PATH", summary: "write this file, and start the paths in it there" },
];

export const importCommand: CommandBody = {
  usage: [],
  examples: ["import compose > app.yaml  the Compose file of this folder"],
  flags: [],
  commands: [
    {
      name: "compose",
      summary: "print manifests for the services of a Compose file",
      usage: ["import compose [FILE…] [--profile NAME] [--env-file FILE] [--scope NAME] [--write PATH]"],
      examples: [
        "import compose > app.yaml  the Compose file of this folder",
        "import compose -f a.yml -f b.yml --profile web > app.yaml  as docker compose is called",
        "import compose stack.yml --scope shop --to hcl > app.hcl  another file, in HCL",
      ],
      detail: composeDetail,
      flags: [
        {
          name: "file",
          short: "f",
          value: "FILE",
          repeat: true,
          summary: "a Compose file; later ones are merged over it",
        },
        { name: "env-file", value: "FILE", repeat: true, summary: "variables of this file instead of .env" },
        { name: "profile", value: "NAME", repeat: true, summary: "services of this profile start too" },
        scopeFlag,
        ...outputFlags,
      ],
      run: fromCompose,
    },
    {
      name: "docker-run",
      summary: "print the manifest for a command line of docker run",
      usage: ['import docker-run "docker run …" [--scope NAME] [--to yaml|hcl] [--write PATH]'],
      examples: ['import docker-run "docker run -d --name web -p 80:80 nginx:1" > web.yaml'],
      detail: ["Give the command line as one word, in quotes. Nothing is run, and nothing is sent to a server."],
      flags: [scopeFlag, ...outputFlags],
      run: fromRun,
    },
    {
      name: "kamal",
      summary: "print manifests for a deploy.yml of Kamal",
      usage: ["import kamal [FILE] [--destination NAME] [--scope NAME] [--to yaml|hcl] [--write PATH]"],
      examples: [
        "import kamal config/deploy.yml > app.yaml",
        "import kamal --destination staging > staging.yaml  with config/deploy.staging.yml",
      ],
      detail: [
        "Prints an app for the web role, a deployment for each other role and accessory, with the name that",
        "Kamal gives its container. Secrets stay variables. The image is built from the same Dockerfile.",
        "Nothing is sent to a server.",
      ],
      flags: [
        { name: "destination", short: "d", value: "NAME", summary: "with the settings of deploy.NAME.yml" },
        scopeFlag,
        ...outputFlags,
      ],
      run: fromKamal,
    },
  ],
  run: async () => exitCodes.usage,
};

async function fromCompose(context: Context, args: Arguments): Promise<number> {
  const { importComposeFiles } = await import("../manifests/compose/files.ts");
  const result = await importComposeFiles([...args.values("file"), ...args.words], setupOf(context, args));
  return printed(result, context, args.value("write"));
}

async function fromRun(context: Context, args: Arguments): Promise<number> {
  const { importDockerRun } = await import("../manifests/compose/others.ts");
  const text = oneWord(args, 'which command, in quotes: import docker-run "docker run -d nginx:1"');
  return printed(importDockerRun(text, setupOf(context, args)), context, args.value("write"));
}

async function fromKamal(context: Context, args: Arguments): Promise<number> {
  const { importKamal } = await import("../manifests/compose/others.ts");
  const file = optionalWord(args, "import kamal FILE") ?? "config/deploy.yml";
  return printed(importKamal(file, args.value("destination"), setupOf(context, args)), context, args.value("write"));
}

function setupOf({ cwd, stdin, limits, validation, variables }: Context, args: Arguments): ImportSetup {
  const write = args.value("write");
  return {
    ...{ cwd, stdin, limits, validation, variables },
    scope: args.value("scope"),
    to: targetOf(args),
    envFiles: args.values("env-file"),
    profiles: args.values("profile"),
    base: write === undefined ? undefined : dirname(write),
  };
}

function targetOf(args: Arguments): "yaml" | "hcl" {
  const to = args.value("to") ?? "yaml";
  if (to !== "yaml" && to !== "hcl") throw usageFailure(`--to is yaml or hcl, not "${to}"`);
  return to;
}

async function printed(result: ImportedFile, context: Context, write: string | undefined): Promise<number> {
  const { groupedLines } = await import("../manifests/compose/report.ts");
  if (write !== undefined)
    writeWhole({ path: resolve(context.cwd, write), shown: write, text: result.text, mode: 0o644 });
  if (context.json || write === undefined) answer(context, result, () => result.text.replace(/\n$/, ""));
  if (context.json) return exitCodes.done;
  const { terminal } = context;
  for (const line of groupedLines(result.losses)) terminal.note(line);
  if (result.variables.length > 0) terminal.note(`set before berth apply: ${result.variables.join(", ")}`);
  const { length } = result.losses.filter(({ level }) => level === "change");
  const rest =
    length === 0
      ? "everything carries over"
      : `${length} setting${length === 1 ? " needs" : "s need"} a change by hand`;
  terminal.note(`${result.manifests} manifest${result.manifests === 1 ? "" : "s"}: ${rest}`);
  return exitCodes.done;
}
