import { hidingOf } from "../../../base/pure/hide.ts";
import type { Problem } from "../../../base/wire/failure.ts";
import { MASK } from "../mask.ts";

/** Names of variables that an operator or a plugin.yml may not choose, beside those of the server. */
const reserved = new Set([
  "PATH",
  "HOME",
  "TMPDIR",
  "IFS",
  "ENV",
  "SHELLOPTS",
  "DOCKER_HOST",
  "NO_PROXY",
  "GCONV_PATH",
]);

/** Programs load code that these name. */
const steering =
  /^(?:LD_|DYLD_|NODE_|BUN_|BASH_|GIT_|PYTHON|PERL|RUBY|GLIBC_|MALLOC_|JAVA_TOOL_OPTIONS$|JDK_JAVA_OPTIONS$|_JAVA_OPTIONS$)/i;

const form = /^[A-Za-z_][A-Za-z0-9_]*$/;
const nameMax = 128;

/** Why a plugin cannot be given this variable; undefined when it can. `envPrefix` is `BERTH`. */
export function variableFault(name: string, envPrefix: string): string | undefined {
  if (!form.test(name) || name.length > nameMax) {
    return `is not a valid name of an environment variable: use letters, digits and _, at most ${nameMax}`;
  }
  const upper = name.toUpperCase();
  if (["BERTH_", `${envPrefix}_`].some((prefix) => upper.startsWith(prefix))) {
    return "is a name of the server itself; use another name";
  }
  if (reserved.has(upper)) return "is set by the server for every plugin; use another name";
  if (steering.test(name)) return "steers how programs run, and would reach more than the plugin; use another name";
  return undefined;
}

/**
 * Variables of the server that a plugin gets. A folder that is used in place was never checked, so that its names
 * are looked at here.
 */
export function grantedVariables({ server_env = [] }: { server_env?: readonly string[] }, envPrefix: string): string[] {
  return server_env.filter((name) => variableFault(name, envPrefix) === undefined);
}

interface ConfigLimits {
  keysMax: number;
  valueBytesMax: number;
  /** Names and values together: the kernel takes no more for a process. */
  allBytesMax: number;
}

/** A change of what a plugin is given; an empty value unsets. */
export function configProblems(
  before: Readonly<Record<string, string>>,
  change: Readonly<Record<string, string>>,
  { envPrefix, limits }: { envPrefix: string; limits: ConfigLimits },
): Problem[] {
  const problems = Object.entries(change).flatMap(([key, value]): Problem[] => {
    const message = value === "" ? undefined : (variableFault(key, envPrefix) ?? valueFault(value, limits));
    return message === undefined ? [] : [{ path: `vars.${key}`, message }];
  });
  const after = Object.entries({ ...before, ...change }).filter(([, value]) => value !== "");
  const bytes = after.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (after.length > limits.keysMax) {
    problems.push({ path: "vars", message: `would be ${after.length} keys; a plugin has at most ${limits.keysMax}` });
  }
  if (bytes > limits.allBytesMax) {
    problems.push({ path: "vars", message: `would be ${bytes} bytes; a plugin has at most ${limits.allBytesMax}` });
  }
  return problems;
}

function valueFault(value: string, { valueBytesMax }: ConfigLimits): string | undefined {
  if (value === MASK) return "is masked; write the value";
  if (value.includes("\0")) return "has a NUL character, which no environment can hold";
  const bytes = Buffer.byteLength(value);
  return bytes > valueBytesMax ? `has ${bytes} bytes; a value has at most ${valueBytesMax}` : undefined;
}

/** Replaces secrets in what a plugin says, where that is kept or shown to others. */
export function hiding(values: readonly string[], from: number): (text: string) => string {
  return hidingOf(values, { mask: MASK, charactersMin: from });
}
