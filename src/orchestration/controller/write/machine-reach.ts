import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import { machineReachProblems } from "../../core/plugins/permissions.ts";
import type { ExpandedBlock } from "../plugins/expansion.ts";
import type { Context } from "../state/context.ts";
import type { Incoming } from "./apply-change.ts";

/** Refuses what reaches the machine itself and is not stored yet: folders of the machine, its network, capabilities, options of the engine. */
export function refuseMachineReach(
  { store }: Context,
  incoming: readonly Incoming[],
  blocks: readonly ExpandedBlock[],
): void {
  const blockOf = new Map(blocks.flatMap(({ spec, manifests }) => manifests.map((made) => [formatKey(made), spec])));
  for (const { key, spec } of incoming) {
    const ref = formatKey(key);
    const written = { stored: store.manifests.get(key)?.spec, block: blockOf.get(ref) };
    const [problem] = machineReachProblems({ ...key, spec }, written);
    if (problem === undefined) continue;
    throw new Failure("forbidden", `${ref}: ${problem.path}: ${problem.message}, which takes the scope admin`);
  }
}
