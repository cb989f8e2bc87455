import { writeWhole } from "../basics/write-whole.ts";
import { existsSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseImageReference } from "../../orchestration/core/image-reference.ts";
import { type Findings, noteText } from "../init/look.ts";
import { type Choices, firstManifest } from "../init/manifest.ts";
import { lookAround } from "../init/nested.ts";
import { appHost, appIdentity, placeHere, scopeOfFolder, sourceTree } from "../build/place.ts";
import type { Arguments } from "../basics/arguments.ts";
import { askText, requireYes, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { optionalWord } from "../shell/words.ts";

const written = "berth.yaml";

export const initCommand: CommandBody = {
  usage: [
    "init [FOLDER] [--name SCOPE/NAME] [--host HOST] [--port PORT] [-y]",
    "init [FOLDER] --path PATH | --image IMAGE",
  ],
  examples: [
    "init  ask two questions, write berth.yaml",
    "init --name shop/web --host shop.example.com -y  without a question",
  ],
  detail: [
    "Looks at the Dockerfile, or at the files that show the language, at .env.example, and at a Procfile,",
    "render.yaml, fly.toml, railway.json, nixpacks.toml, app.json or Aptfile. Says what it took, what it",
    "assumed and what the app needs beside, such as a database, a volume or values of variables.",
    "Writes a manifest with comments, which berth up deploys. Nothing is run, and nothing is sent. A",
    "manifest that is there already is written over only after a yes.",
  ],
  flags: [
    { name: "name", value: "SCOPE/NAME", summary: "what the app is called (default: the folder's name, and web)" },
    { name: "host", value: "HOST", summary: "the domain of the app" },
    { name: "port", value: "PORT", summary: "where the program listens (default: what the Dockerfile exposes)" },
    { name: "path", value: "PATH", summary: "the app's part of the folder, such as apps/web of a workspace" },
    { name: "image", value: "IMAGE", summary: "use this image, and build nothing" },
    { ...yesFlag, summary: "do not ask: take the defaults, and write over what is there" },
  ],
  async run(context, args) {
    const folder = optionalWord(args, "init [FOLDER]") ?? ".";
    const root = resolve(context.cwd, folder);
    if (!existsSync(root) || !statSync(root).isDirectory()) {
      throw new CommandFailure(`"${printable(folder)}" is not a folder`);
    }
    const findings = findingsOf(root, args, context);
    const choices = await chosen({ context, args, root, findings });
    await consentToReplace(context, args, root);
    const path = join(folder, written);
    writeWhole({ path: join(root, written), shown: path, text: firstManifest(choices, findings), mode: 0o644 });
    report(context, { path, folder, choices, findings });
    return exitCodes.done;
  },
};

function findingsOf(root: string, args: Arguments, { limits }: Context): Findings {
  const look = lookAround(sourceTree(root, limits.folder), args.value("path"));
  if (look.ok) return look.findings;
  if (args.value("image") === undefined) throw new CommandFailure(`${look.problem}; or name an image with --image`);
  return { source: "", port: undefined, processes: [], env: undefined, notes: [] };
}

interface Asking {
  context: Context;
  args: Arguments;
  root: string;
  findings: Findings;
}

/** From flags, else from the operator, else as the folder has it. */
async function chosen({ context, args, root, findings }: Asking): Promise<Choices> {
  const asks = context.terminal.asks && !context.autoApprove && !args.on("yes");
  const ask = async (flag: string, question: string, usual: string) => {
    return args.value(flag) ?? (asks ? await askText(context, question, usual) : usual);
  };
  if (asks && args.value("image") === undefined) context.terminal.note(`found ${findings.source}`);
  const { scope, name } = appIdentity(await ask("name", "Name, as SCOPE/NAME", `${scopeOfFolder(basename(root))}/web`));
  const image = args.value("image");
  if (image !== undefined && parseImageReference(image) === undefined) {
    throw usageFailure(`"${image}" is not an image: write NAME:TAG`);
  }
  const portText = findings.port === undefined ? await ask("port", "Port, empty for none", "") : args.value("port");
  const host = appHost(await ask("host", "Domain, empty for none", ""));
  const port = portText === undefined || portText === "" ? findings.port : portOf(portText);
  return { scope, name, host: host === "" ? undefined : host, port, image, path: args.value("path") };
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw usageFailure(`"${text}" is not a port: write a number from 1 to 65535`);
}

async function consentToReplace(context: Context, args: Arguments, root: string): Promise<void> {
  const [found] = placeHere(root);
  if (found === undefined) return;
  const text =
    found === written ? `Write over ${written}?` : `Write ${written}? berth up will use it, and not ${found}.`;
  await requireYes(context, { text, yes: args.on("yes") });
}

interface Written {
  path: string;
  folder: string;
  choices: Choices;
  findings: Findings;
}

function report(context: Context, { path, folder, choices, findings }: Written): void {
  const { scope, name, host, port, image } = choices;
  const data = {
    file: path,
    kind: "app",
    scope,
    name,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(image !== undefined || findings.notes.length === 0 ? {} : { notes: findings.notes }),
  };
  answer(context, data, () => {
    const from = image ?? findings.source;
    const where = port === undefined ? "no port" : `port ${port}`;
    const up = folder === "." ? "berth up" : `berth up -f ${path}`;
    return [
      `wrote ${path}: ${scope}/${name} from ${from}; ${where}${host === undefined ? "" : `, ${host}`}`,
      ...(image === undefined ? findings.notes.map((note) => printable(noteText(note))) : []),
      `nothing was built or started yet; next: ${up}`,
    ].join("\n");
  });
}
