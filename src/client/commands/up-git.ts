import { type BuildRequest, buildImage, type GitSource } from "../../orchestration/api/builds.ts";
import { fetchSource, type Source } from "../../orchestration/api/sources.ts";
import { type BuildChoices, buildChoices } from "../build/build-flags.ts";
import { holderOf } from "../build/of-manifests.ts";
import { appHost, appIdentity, scopeOfFolder } from "../build/place.ts";
import type { ManifestSet } from "../manifests/read.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { Context } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { manifestsOfText } from "../shell/manifest-flags.ts";
import { callWithProgress, warn } from "../shell/progress-answer.ts";
import { printable } from "../basics/style.ts";
import { optionalWord } from "../shell/words.ts";

/** What a repository deploys, with its images built; `args` name the commit as the reason. */
export async function upFromGit(
  context: Context,
  args: Arguments,
  address: string,
): Promise<{ args: Arguments; set: ManifestSet }> {
  const forbidden = ["file", "pushed", "preview"].find((flag) => args.values(flag).length > 0);
  if (forbidden !== undefined) throw usageFailure(`--git deploys a repository as it is: leave --${forbidden} out`);
  const source = await fetched(context, args, address);
  const name = "the repository";
  // The server has filled in what a command line would: a dollar sign is one.
  const text = source.text.replaceAll("$", () => "$$");
  const set = await manifestsOfText(text, { name, directory: context.cwd }, context);
  for (const { index, id } of source.builds) {
    const holder = holderOf(set.manifests[index] ?? {});
    if (holder !== undefined) holder.build = { ...(holder.build as object), id };
  }
  const choices = buildChoices(args, context, { again: false });
  if (!args.on("dry-run")) await buildAll(context, { source, set, choices });
  const message = args.value("message") ?? messageOf(source.git);
  return { set, args: { ...args, value: (flag) => (flag === "message" ? message : args.value(flag)) } };
}

async function fetched(context: Context, args: Arguments, address: string): Promise<Source> {
  const [url = "", ref] = address.split("#", 2);
  const repository =
    url
      .replace(/\/+$/, "")
      .replace(/\.git$/, "")
      .split("/")
      .at(-1) ?? "";
  const app = appIdentity(args.value("name") ?? `${scopeOfFolder(repository)}/web`);
  const folder = optionalWord(args, "up takes one folder");
  const host = appHost(args.value("host") ?? "");
  const tokenKey = args.value("git-token");
  const body = {
    ...app,
    url,
    ...(ref === undefined || ref === "" ? {} : { ref }),
    ...(folder === undefined ? {} : { folder: folder.replace(/^\.\//, "") }),
    ...(host === "" ? {} : { host }),
    ...(tokenKey === undefined ? {} : { token_key: tokenKey }),
  };
  const broken = "while the server fetched the source: run the command again";
  const source = await callWithProgress(context, fetchSource, { input: { body }, broken });
  context.terminal.note(`${app.scope}/${app.name} from ${printable(source.found)}`);
  const secrets = source.left_out.slice(0, 5).join(", ");
  const left = secrets === "" ? [] : [`not part of any image, since they look like secrets: ${secrets}`];
  warn(context, [...source.warnings, ...left]);
  return source;
}

interface Building {
  source: Source;
  set: ManifestSet;
  choices: BuildChoices;
}

async function buildAll(context: Context, { source: { builds, git }, set, choices }: Building): Promise<void> {
  const { secrets, memory, cpu } = choices;
  for (const { index, request } of builds) {
    const { scope, name } = set.manifests[index] ?? {};
    const { config_secrets: keys = [], ...rest } = request;
    const stored = keys.filter((key) => !Object.hasOwn(secrets, key));
    const body: BuildRequest = {
      ...rest,
      ...(stored.length === 0 ? {} : { config_secrets: stored }),
      ...(Object.keys(secrets).length === 0 ? {} : { secrets }),
      ...(memory === undefined ? {} : { memory }),
      ...(cpu === undefined ? {} : { cpu }),
      scope: String(scope),
      name: String(name),
      ...(git === undefined ? {} : { git }),
    };
    const broken = `during the build of ${body.scope}/${body.name}: nothing was deployed; run the command again`;
    const { build, reused } = await callWithProgress(context, buildImage, { input: { body }, broken });
    const what = reused ? "is there already: the source has not changed" : "built";
    context.terminal.note(`${context.terminal.noteStyle.green("✓")} ${printable(build.image)} ${what}`);
  }
}

function messageOf(git: GitSource | undefined): string | undefined {
  if (git === undefined) return undefined;
  return [git.ref, git.commit.slice(0, 12), git.subject].filter((part) => part !== undefined && part !== "").join(" ");
}
