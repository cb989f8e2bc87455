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
  const values: Record<string, string> = {};
  for (const file of files) {
    // Compose also reads lines that are not variables; they say nothing here.
    const read = readEnvFile({ name: file, text: readText(file, file, { bytesMax: limits.fileBytesMax }) }, []);
    for (const [name, value] of Object.entries(read)) {
      const known = { values, shell: variables, complete: true };
      values[name] = value.includes("$")
        ? withDefaults(composeText(value, { known, path: name, lose: () => {} }))
        : value;
    }
  }
  return { values, shell: variables, complete: files.length > 0 };
}
