import type { CoreKind } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";

/** The warning for an ingress while nothing serves it; empty when all is well. */
export function notServed({ ingressProblem }: Pick<Context, "ingressProblem">, kind: CoreKind): string[] {
  const problem = kind === "ingress" ? ingressProblem?.() : undefined;
  return problem === undefined ? [] : [`stored, but not served: ${problem}`];
}
