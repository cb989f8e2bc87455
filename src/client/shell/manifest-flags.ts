import { ApiError } from "../../base/wire/client.ts";
import type { Arguments, Flag } from "../basics/arguments.ts";
import type { Context } from "./command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { type Format, formats } from "../manifests/source.ts";
import type { ManifestSet } from "../manifests/read.ts";
import { noWords } from "./words.ts";

export const fileFlag: Flag = {
  name: "file",
  short: "f",
  value: "PATH",
  repeat: true,
  summary: "a manifest file, a folder of them, or - for stdin; may be repeated",
};

export const formatFlag: Flag = {
  name: "format",
  value: "LANGUAGE",
  summary: "of stdin, and of names that do not tell: yaml (default), json or hcl",
};

/** What a block is expanded into may be there already. */
export const takeOverFlag = {
  name: "take-over",
  summary: "let a plugin's block have manifests that were applied by themselves",
};

/** What made a block may not be what is installed now. */
export const replacePluginFlag = {
  name: "replace-plugin",
  summary: "hand blocks that another plugin made to the plugin that is there now",
};

/** A plugin that takes an ingress does not get what closes it. */
export const dropFlag = {
  name: "drop",
  value: "FIELDS",
  summary: "what an ingress may lose as a plugin takes it: allow,basic_auth",
};

export const manifestDetail: readonly string[] = [
  "Files are YAML (several documents, or lists), JSON, or HCL (a block for each manifest). In them",
  `\${NAME} and \${NAME:-default} come from the shell. In YAML $$ is a dollar sign, and !file PATH embeds`,
  'a file into an asset; in HCL $${ is "${" itself, and file("PATH") embeds a file.',
];

/** The manifests behind `-f` of the command `verb`. */
export async function manifestsOf(args: Arguments, context: Context, verb: string): Promise<ManifestSet> {
  const paths = args.values("file");
  if (paths.length === 0 && args.words.length > 0) {
    const files = args.words.map((word) => `-f ${printable(word)}`).join(" ");
    throw usageFailure(`files need -f: did you mean: berth ${verb} ${files}`);
  }
  if (paths.length === 0) throw usageFailure("say which manifests: -f FILE, -f FOLDER, or -f - for stdin");
  noWords(args, "files need -f");
  return manifestsAt(paths, args, context);
}

/** The manifests of files and folders; \`-\` is stdin. */
export async function manifestsAt(
  paths: readonly string[],
  args: Arguments,
  context: Context,
  { within }: { within?: string } = {},
): Promise<ManifestSet> {
  // Loaded when used: the YAML parser is the largest part of the client.
  const { readManifests } = await import("../manifests/read.ts");
  const setup = { ...readSetup(context, formatOfFlag(args)), within };
  return readManifests(paths, setup).catch((error: unknown) => withAllFaults(error, context));
}

/** The manifests of a text that berth made; `name` is for messages, paths start at `directory`. */
export async function manifestsOfText(
  text: string,
  { name, directory, within }: { name: string; directory: string; within?: string | undefined },
  context: Context,
): Promise<ManifestSet> {
  const { readManifestFiles } = await import("../manifests/read.ts");
  return readManifestFiles([{ name, text, directory, format: "yaml" }], { ...readSetup(context, undefined), within });
}

function readSetup({ cwd, stdin, variables, limits }: Context, format: Format | undefined) {
  return { cwd, stdin, format, variables, limits };
}

/** Thrown on with what the server would say of the rest. */
async function withAllFaults(error: unknown, context: Context): Promise<never> {
  const { withCheckFaults } = await import("../manifests/all-faults.ts");
  throw withCheckFaults(error, context);
}

/** The language that `--format` names. */
export function formatOfFlag(args: Arguments): Format | undefined {
  const written = args.value("format");
  const format = formats.find((known) => known === written);
  if (written === undefined || format !== undefined) return format;
  throw usageFailure(`--format is ${formats.join(", ")}, not "${written}"`);
}

/** Runs a call that sends `set`; what the server finds wrong is shown at its place in the files. */
export async function explained<T>(set: ManifestSet, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400 || error.data.problems === undefined) throw error;
    throw new CommandFailure(set.explain(error.data.problems), exitCodes.failed, error.data);
  }
}
