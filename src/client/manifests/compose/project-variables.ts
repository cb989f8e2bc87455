import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readText } from "../../basics/read-bounded.ts";
import { readEnvFile } from "../env-file.ts";
import type { Variables } from "../interpolate.ts";
import { composeText, type Known, withDefaults } from "./variables.ts";

interface ProjectSetup {
  cwd: string;
  variables: Variables;
  /** Files of `--env-file`, in place of `.env`. */
  envFiles: readonly string[];
  limits: { fileBytesMax: number };
}

/** The variables of `.env` beside the Compose file, or of the files that the command line names. */
export function projectVariables(project: string, { cwd, variables, envFiles, limits }: ProjectSetup): Known {
  const own = join(project, ".env");
  const files = envFiles.length > 0 ? envFiles.map((name) => resolve(cwd, name)) : existsSync(own) ? [own] : [];
  let values: Record<string, string> = {};
  for (const file of files) {
    const text = readText(file, file, { bytesMax: limits.fileBytesMax });
    values = { ...values, ...fileValues(text, { values, shell: variables, complete: true }) };
  }
  return { values, shell: variables, complete: files.length > 0 };
}

/** The variables of an env file, filled in from those before them and from what is known. */
export function fileValues(text: string, known: Known): Record<string, string> {
  const { variables, verbatim } = readVariables(text);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const around = { known: { ...known, values: { ...known.values, ...values } }, path: name, lose: () => {} };
    values[name] = value.includes("$") && !verbatim.has(name) ? withDefaults(composeText(value, around)) : value;
  }
  return values;
}

/** As they are written. Compose fills in nothing within single quotes, and passes over other lines. */
export function readVariables(text: string): { variables: Record<string, string>; verbatim: ReadonlySet<string> } {
  const quoted = text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*'/gm);
  const verbatim = new Set([...quoted].flatMap(([, name]) => name ?? []));
  return { variables: readEnvFile({ name: "", text }, []), verbatim };
}
