import { resolve } from "node:path";
import { parseCpu, parseMemory } from "../../base/pure/quantity.ts";
import type { Arguments, Flag } from "../basics/arguments.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { readBounded } from "../basics/read-bounded.ts";

/** What a command line says of its builds, beyond the manifests. */
export interface BuildChoices {
  again: boolean;
  /** Name the image `<scope>-<name>:latest` as well. */
  latest: boolean;
  /** Values by the id that a step mounts them with. */
  secrets: Record<string, string>;
  memory: string | undefined;
  cpu: string | undefined;
}

export const buildFlags: readonly Flag[] = [
  {
    name: "secret",
    value: "id=ID,env=NAME",
    repeat: true,
    summary: "a secret that build steps mount; or id=ID,src=FILE",
  },
  { name: "build-memory", value: "SIZE", summary: "most memory of a build step: 2Gi (default: half of the machine)" },
  { name: "build-cpu", value: "CPUS", summary: "most CPUs of a build step: 1.5 (default: all, with a low weight)" },
];

/** For manifests whose source is not here. */
export const noBuildFlag: Flag = {
  name: "no-build",
  summary: "build nothing: apps run on their newest image, or wait for one",
};

export function buildChoices(args: Arguments, context: Context, { again }: { again: boolean }): BuildChoices {
  const [memory, cpu] = [args.value("build-memory"), args.value("build-cpu")];
  if (memory !== undefined && parseMemory(memory) === undefined)
    throw usageFailure(`--build-memory ${memory}: write a size such as 512Mi or 2Gi`);
  if (cpu !== undefined && parseCpu(cpu) === undefined)
    throw usageFailure(`--build-cpu ${cpu}: write a number of CPUs such as 0.5 or 2`);
  const secrets = Object.fromEntries(args.values("secret").map((text) => readSecret(text, context)));
  return { again, latest: args.on("latest"), secrets, memory, cpu };
}

/** `id=ID,env=NAME`, `id=ID,src=FILE`, or `id=ID` for the variable of that name, as `docker build` writes them. */
function readSecret(text: string, { cwd, variables, limits }: Context): [id: string, value: string] {
  const fields = new Map(text.split(",").map((part) => splitOnce(part)));
  const id = fields.get("id") ?? "";
  const file = fields.get("src") ?? fields.get("source");
  const variable = fields.get("env") ?? (file === undefined ? id : undefined);
  const unknown = [...fields.keys()].find((key) => !["id", "src", "source", "env", "type"].includes(key));
  if (id === "" || unknown !== undefined || (file !== undefined && variable !== undefined))
    throw usageFailure(`--secret "${text}": write id=ID,env=NAME or id=ID,src=FILE`);
  if (variable !== undefined) {
    const value = variables[variable];
    if (value === undefined) throw new CommandFailure(`--secret ${id}: the variable ${variable} is not set`);
    return [id, value];
  }
  const path = file ?? "";
  try {
    const bytes = readBounded(resolve(cwd, path), path, { bytesMax: limits.fileBytesMax, mayBePipe: true });
    return [id, new TextDecoder().decode(bytes)];
  } catch (error) {
    throw new CommandFailure(`--secret ${id}: ${error instanceof Error ? error.message : ""}`);
  }
}

function splitOnce(part: string): [key: string, value: string] {
  const equals = part.indexOf("=");
  return equals === -1 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
}
