import { answer, type CommandBody, type Context } from "../shell/command.ts";
import type { Arguments } from "../shell/arguments.ts";
import { exitCodes, usageFailure } from "../shell/failures.ts";
import { optionalWord } from "../shell/words.ts";

const composeDetail = [
  "Prints manifests that do what a Compose file does: a deployment for each service, and an asset of",
  "the single files that services mount. Images, builds, ports, environment, volumes, health checks,",
  "commands, restart, replicas and limits carry over. What does not is reported on stderr, with its",
  "place; so is what means something else here. Variables stay. Nothing is sent to a server.",
  "For files with extends or include: docker compose config | berth import compose -",
];

export const importCommand: CommandBody = {
  usage: [],
  examples: ["import compose > app.yaml  the Compose file of this folder"],
  flags: [],
  commands: [
    {
      name: "compose",
      summary: "print manifests for the services of a Compose file",
      usage: ["import compose [FILE] [--scope NAME] [--to yaml|hcl]"],
      examples: [
        "import compose > app.yaml  the Compose file of this folder",
        "import compose stack.yml --scope shop --to hcl > app.hcl  another file, in HCL",
      ],
      detail: composeDetail,
      flags: [
        { name: "scope", value: "NAME", summary: "of all manifests; default: the name in the file, or the folder" },
        { name: "to", value: "LANGUAGE", summary: "yaml (default) or hcl" },
      ],
      run: fromCompose,
    },
  ],
  run: async () => exitCodes.usage,
};

async function fromCompose(context: Context, args: Arguments): Promise<number> {
  const file = optionalWord(args, "import compose FILE");
  const to = args.value("to") ?? "yaml";
  if (to !== "yaml" && to !== "hcl") throw usageFailure(`--to is yaml or hcl, not "${to}"`);
  const { importComposeFile } = await import("../manifests/compose/files.ts");
  const { cwd, stdin, limits, validation, terminal } = context;
  const result = await importComposeFile(file, { cwd, stdin, limits, validation, to, scope: args.value("scope") });
  answer(context, result, () => result.text.replace(/\n$/, ""));
  if (context.json) return exitCodes.done;
  for (const { place, path, message } of result.losses) terminal.note(`${place}: ${path}: ${message}`);
  const { length } = result.losses;
  const lost = length === 0 ? "everything carries over" : `${length} of their settings do not carry over as they are`;
  terminal.note(`${result.manifests} manifest${result.manifests === 1 ? "" : "s"}: ${lost}`);
  return exitCodes.done;
}
