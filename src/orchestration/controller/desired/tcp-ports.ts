import { Failure, type Place, type Problem, problemsAt } from "../../../base/wire/failure.ts";
import type { CoreKind, ManifestKey, Spec } from "../../api/manifest.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import type { PortBinding } from "../../core/workload.ts";
import type { Context } from "../state/context.ts";

interface Wanting {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  place: Place;
}

/**
 * Finds `tcp.port` of an ingress that another program of this machine listens on, such as 22: HAProxy would take it as
 * soon as that program stops for a moment. A port that some ingress has already is HAProxy's own, and one of a container
 * may come free with this very apply. Says nothing while the engine cannot be asked.
 */
export async function takenPorts(context: Context, incoming: readonly Wanting[]): Promise<Problem[]> {
  const had = new Set(context.store.manifests.list({ kind: "ingress" }).flatMap(({ spec }) => portOf(spec) ?? []));
  const problems: Problem[] = [];
  for (const { key, spec, place } of incoming) {
    const port = key.kind === "ingress" ? portOf(spec) : undefined;
    if (port === undefined || had.has(port) || !context.link.up()) continue;
    const { address = "" } = decodeSpec("ingress", spec).tcp ?? {};
    const binding = { hostIp: address || "0.0.0.0", hostPort: port, containerPort: port, protocol: "tcp" as const };
    const [holder] = await programsOn(context, binding);
    if (holder === undefined) continue;
    const message = `port ${port} is in use by ${holder}; use another port`;
    problems.push(...problemsAt(place, [{ path: "spec.tcp.port", message }]));
  }
  return problems;
}

function portOf(spec: Spec): number | undefined {
  return decodeSpec("ingress", spec).tcp?.port;
}

/** A port that an ingress has just given back may still be open. */
const ownProxy = /\(haproxy\)$/;

async function programsOn({ engine }: Context, binding: PortBinding): Promise<string[]> {
  const holders = await engine.portHolders([binding]).catch((error: unknown) => {
    if (error instanceof Failure) return [];
    throw error;
  });
  return holders.flatMap(({ holder, container }) =>
    container === undefined && !ownProxy.test(holder) ? [holder] : [],
  );
}
