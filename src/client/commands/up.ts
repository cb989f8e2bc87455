import { existsSync } from "node:fs";
import { join } from "node:path";
import { listManifests } from "../../orchestration/api/apply.ts";
import type { Arguments } from "../shell/arguments.ts";
import type { CommandBody, Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../shell/failures.ts";
import { manifestsOf } from "../shell/manifest-flags.ts";
import { isObject } from "../manifests/env-merge.ts";
import { applyCommand, runApply } from "./apply.ts";

/** Where the manifests of a folder are, the first that is there. */
export const places = ["berth.yaml", "berth.yml", "berth.hcl", "berth.json", ".berth"];

export const upCommand: CommandBody = {
  usage: ["up [-f PATH…] [-m WHY] [-y] [--timeout TIME]"],
  examples: ["up  what berth.yaml of this folder says", "up -y  without a question, for scripts"],
  detail: [
    `Looks for ${places.slice(0, -1).join(", ")} or a folder ${places.at(-1)}/ here, builds what`,
    "has a build block, applies all of it, waits until it is ready, and prints the addresses. Like",
    "berth apply -f, with the same exit codes.",
  ],
  flags: applyCommand.flags,
  async run(context, args) {
    const given = args.values("file");
    const paths = given.length > 0 ? given : [here(context)];
    const chosen: Arguments = { ...args, values: (flag) => (flag === "file" ? paths : args.values(flag)) };
    const code = await runApply(context, chosen);
    if (code !== exitCodes.done || context.json || args.on("dry-run")) return code;
    for (const address of await addresses(context, chosen)) context.terminal.out(address);
    return code;
  },
};

function here({ cwd }: Context): string {
  const found = places.find((place) => existsSync(join(cwd, place)));
  if (found !== undefined) return found;
  throw usageFailure(`no manifests in this folder: write ${places[0]}, or name them with -f`);
}

/** Of the ingresses of the scopes that were applied. */
async function addresses(context: Context, args: Arguments): Promise<string[]> {
  const { manifests } = await manifestsOf(args, context);
  const names = new Set(manifests.map(({ scope, name }) => `${String(scope)}/${String(name)}`));
  const stored = await context.api.call(listManifests, { query: { kind: "ingress" } });
  return stored.flatMap(({ scope, name, spec }) => {
    if (!names.has(`${scope ?? ""}/${name}`)) return [];
    const hosts = [spec.host, ...(Array.isArray(spec.hosts) ? spec.hosts : [])];
    const scheme = isObject(spec.tls) && spec.tls.enabled !== false ? "https" : "http";
    return hosts.flatMap((host) => (typeof host === "string" && host !== "" ? [`${scheme}://${host}`] : []));
  });
}
