import { isFields } from "../base/pure/fields.ts";
import type { Problem } from "../base/wire/failure.ts";
import type { CoreKind, Spec } from "../orchestration/api/manifest.ts";
import { type Reach, reachOf } from "./reach.ts";

/**
 * What held a container in that reaches the machine, and is left out now. Storing a folder of the machine for a
 * program without root does not store it for root.
 */
export function loosened({ kind, stands, wanted }: { kind: CoreKind; stands: Spec; wanted: Spec }): Problem[] {
  const [before, after] = [confinementOf(kind, stands), confinementOf(kind, wanted)];
  if (!after.reaches) return [];
  const { at } = after;
  const network = before.isAlone && !after.isAlone ? [problem(`${at}.network_mode`, 'network_mode "none"')] : [];
  const own = missing(before.main, after.main).map((value) => problem(`${at}.docker_options`, value));
  const inits = after.inits.flatMap(({ name, options }, index) => {
    const was = before.inits.find((init) => init.name === name);
    const left = missing(was?.options ?? before.main, options ?? after.main);
    // Where it has no list of its own it has that of the container, which is reported already.
    return options === undefined ? [] : left.map((value) => problem(`${at}.inits[${index}].docker_options`, value));
  });
  return [...network, ...own, ...inits];
}

interface Confinement {
  /** Path of the container. */
  at: string;
  /** Whether something of it reaches the machine, beside what only holds it in. */
  reaches: boolean;
  /** It has no network. */
  isAlone: boolean;
  main: readonly string[];
  /** An init without a list of its own has that of the container. */
  inits: readonly { name: unknown; options: readonly string[] | undefined }[];
}

function confinementOf(kind: CoreKind, spec: Spec): Confinement {
  const at = kind === "cronjob" ? "spec.job" : "spec";
  const container = kind === "cronjob" ? (isFields(spec.job) ? spec.job : {}) : spec;
  const found = reachOf({ kind, spec });
  const optionsAt = (path: string) => found.filter((one) => one.confines === true && one.path === path).map(textIn);
  const inits = Array.isArray(container.inits) ? container.inits.filter(isFields) : [];
  return {
    at,
    reaches: found.some(({ confines }) => confines !== true),
    isAlone: container.network_mode === "none",
    main: optionsAt(`${at}.docker_options`),
    inits: inits.map(({ name, docker_options: own }, index) => ({
      name,
      options: Array.isArray(own) ? optionsAt(`${at}.inits[${index}].docker_options`) : undefined,
    })),
  };
}

function textIn({ value }: Reach): string {
  return value;
}

function missing(before: readonly string[], after: readonly string[]): string[] {
  return before.filter((value) => !after.includes(value));
}

function problem(path: string, value: string): Problem {
  return { path, message: `"${value}" holds a container in that reaches the machine, and is left out` };
}
