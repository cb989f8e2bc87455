import { ownsMachine, type Principal, unnamed } from "../../access/principal.ts";
import { type Problem, problemsAt, problemsFailure } from "../../base/wire/failure.ts";
import { keyOf } from "../api/manifest-key.ts";
import { formatKey } from "../api/manifest.ts";
import { takePin } from "../core/plugins/expansion.ts";
import type { ReferenceTarget } from "../core/references.ts";
import { reservationsOf } from "../core/reservations.ts";
import { brokenReferences, clashes, partsOf } from "../core/together.ts";
import { type Decoded, decodeManifests, furtherProblems, placeOf, shapedOnes } from "../core/validate.ts";
import type { Transaction } from "../store/store.ts";
import { storedLookup } from "./desired/assets.ts";
import { storedReferenced } from "./desired/references.ts";
import type { Context } from "./state/context.ts";
import { refused } from "./state/authority.ts";
import { blockFaults } from "./plugins/block-check.ts";
import { canBring } from "./plugins/just-in-time.ts";
import { kindTrouble, pluginKinds } from "./write/blocks.ts";
import { storedConflicts } from "./write/conflicts.ts";
import { writeUnlessDry } from "./state/dry-run.ts";

/** Step 1. A rejected manifest is reported with all its faults. */
export async function decode(context: Context, body: unknown, by: Principal | undefined): Promise<Decoded> {
  const { registry } = context.plugins;
  const decoded = decodeManifests(body, {
    limits: context.limits,
    isPluginKind: (kind, spec) => registry.ofKind(kind) !== undefined || canBring(context, kind, takePin(spec).pin),
    pluginKinds: () => pluginKinds(context),
    kindTrouble: (kind) => kindTrouble(context, kind),
  });
  if (decoded.problems.length === 0) return decoded;
  const count = Array.isArray(body) ? body.length : 1;
  const refusal = { decoded, count, by };
  const beside = await writeUnlessDry(context.store, true, (tx) => faultsBeside(context, tx, refusal));
  throw problemsFailure([...decoded.problems, ...beside, ...(await faultsOfBlocks(context, refusal))]);
}

interface Refused {
  decoded: Decoded;
  /** How many manifests the body has. */
  count: number;
  by: Principal | undefined;
}

/**
 * What is wrong between the manifests of a body that is refused: clashes, hosts and names that others hold, references to
 * what is not there. Says nothing to a caller who may not apply them.
 */
function faultsBeside(context: Context, tx: Transaction, { decoded, count, by }: Refused): Problem[] {
  const shaped = shapedOnes(decoded, context.limits);
  const parts = partsOf(shaped.manifests, shaped.indexes);
  const wanted = parts.map((part) => ({ key: keyOf(part), spec: part.spec }));
  if (refused(by, wanted, tx).length > 0) return [];
  // An app makes an ingress and a deployment of its name.
  const written = new Set([...decoded.manifests, ...parts].map(formatKey));
  // A block of a plugin can make what is missing, and so can a manifest once its fault is fixed.
  const hasOthers = decoded.indexes.length < count;
  const isOpen = (key: ReferenceTarget) => hasOthers || written.has(formatKey(key));
  const known = {
    digest: storedLookup(context),
    findReferenced: (target: ReferenceTarget) => storedReferenced(tx, target),
  };
  const ready = parts.map((part) => {
    const stored = tx.manifests.get(keyOf(part));
    const place = placeOf(part.from, count);
    const reserves = reservationsOf(part);
    return { key: keyOf(part), spec: part.spec, place, reserves, held: stored && reservationsOf(stored) };
  });
  const between = [...clashes(parts), ...brokenReferences({ parts, isOpen }, context.names, known)];
  const found = [
    ...between.flatMap(({ from, ...problem }) => problemsAt(placeOf(from, count), [problem])),
    ...storedConflicts(tx, ready, written).map(({ problem }) => problem),
  ];
  return furtherProblems(decoded.problems, found);
}

/** What the schemas of plugins say against their blocks, to whom they are all open. */
async function faultsOfBlocks(context: Context, { decoded, count, by = unnamed }: Refused): Promise<Problem[]> {
  if (!ownsMachine(by)) return [];
  const found = decoded.pluginBlocks.map(async (block) => {
    const plugin = context.plugins.registry.ofKind(block.kind);
    if (plugin === undefined) return [];
    const { problems } = await blockFaults(context, { ...block, spec: takePin(block.spec).spec }, plugin);
    return problemsAt(placeOf(block.index, count), problems);
  });
  return (await Promise.all(found)).flat();
}
