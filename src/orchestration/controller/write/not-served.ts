import type { Manifest } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";

/** The warning for an ingress while the proxy serves nothing; empty when all is well, or a plugin routes it. */
export function notServed(
  { ingressProblem }: Pick<Context, "ingressProblem">,
  { kind, spec }: Pick<Manifest, "kind" | "spec">,
): string[] {
  const problem = kind === "ingress" && spec.plugin === undefined ? ingressProblem?.() : undefined;
  return problem === undefined ? [] : [`stored, but not served: ${problem}`];
}
