import type { SourceTree } from "../../orchestration/core/build/runtime.ts";
import { generateDockerfile } from "../../orchestration/core/build/generate.ts";
import { readEnvFile } from "../manifests/env-file.ts";
import { type Process, readProcfile } from "../../orchestration/core/build/procfile.ts";

/** What a folder with source says of the app in it. */
export interface Findings {
  /** For people: what the image is made by, `Dockerfile` or `node (package.json)`. */
  source: string;
  /** Where the program listens, as far as the Dockerfile says. */
  port: number | undefined;
  processes: Process[];
  /** An env file and the names of its variables. */
  env: { file: string; keys: string[] } | undefined;
  /** What was assumed of a folder without a Dockerfile, each with what to change. */
  notes: string[];
}

/** `problem`: the folder cannot be built as it is. */
type Look = { ok: true; findings: Findings } | { ok: false; problem: string };

const envFiles = [".env.example", ".env.sample", ".env"];

/** Looks at the source; nothing is run. `path` is the part of it that holds the app. */
export function lookAt(tree: SourceTree, path?: string): Look {
  const own = tree.read("Dockerfile");
  const generated = own === undefined ? generateDockerfile(tree, { path }) : undefined;
  if (generated?.ok === false) return generated;
  const processes = readProcfile(tree.read("Procfile") ?? "");
  const noStart = processes.length > 0 ? undefined : generated?.build.noStart;
  if (noStart !== undefined) return { ok: false, problem: noStart };
  const dockerfile = own ?? generated?.build.dockerfile ?? "";
  const source = generated === undefined ? "Dockerfile" : `${generated.build.runtime} (${generated.build.because})`;
  return {
    ok: true,
    findings: {
      source,
      port: exposedPort(dockerfile) ?? generated?.build.port,
      processes,
      env: envOf(tree),
      notes: generated?.build.notes ?? [],
    },
  };
}

/** The first port of the last EXPOSE, unless it is a variable, or not TCP. */
function exposedPort(dockerfile: string): number | undefined {
  const last = [...dockerfile.matchAll(/^[ \t]*EXPOSE[ \t]+(\S+)/gim)].at(-1)?.[1];
  const port = Number(/^(\d{1,5})(?:\/tcp)?$/i.exec(last ?? "")?.[1] ?? Number.NaN);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function envOf(tree: SourceTree): Findings["env"] {
  for (const file of envFiles) {
    const text = tree.read(file);
    if (text === undefined) continue;
    const keys = Object.keys(readEnvFile({ name: file, text }, []));
    if (keys.length > 0) return { file, keys };
  }
  return undefined;
}
