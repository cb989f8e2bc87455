import { beyondPlugin } from "../../api/kinds/ingress-plugin.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import type { PutResult } from "../../store/store.ts";
import { defaultRouter, routerFault } from "../state/ingress-plugin.ts";
import type { Context } from "../state/context.ts";

/** Warnings for an ingress that nothing serves, or that the server's default hands to a plugin; empty when all is well. */
export function notServed(
  context: Pick<Context, "ingressProblem" | "plugins" | "routing">,
  { manifest, previous }: Pick<PutResult, "manifest" | "previous">,
): string[] {
  const { kind, spec } = manifest;
  if (kind !== "ingress") return [];
  const { plugin } = decodeSpec(kind, spec);
  if (plugin === undefined) {
    const problem = context.ingressProblem?.();
    return problem === undefined ? [] : [`stored, but not served: ${problem}`];
  }
  const fault = routerFault(context, plugin);
  const beyond = beyondPlugin(spec).map(({ path, message }) => `stored, but not served: ${path}: ${message}`);
  const isTaken = previous?.spec.plugin !== plugin && plugin === defaultRouter(context);
  return [
    ...(isTaken ? [`the plugin "${plugin}" routes it: it is this server's default for ingresses`] : []),
    ...(fault === undefined ? [] : [`stored, but not served: ${fault}`]),
    ...beyond,
  ];
}
