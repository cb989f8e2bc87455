import { Failure, type Problem, problemsFailure } from "../api/failure.ts";
import { formatKey } from "../api/manifest.ts";
import type { ApplyResult } from "../api/orchestration/apply.ts";
import type { DraftManifest } from "../core/draft.ts";
import { expandApp } from "../core/expand.ts";
import { normaliseSpec } from "../core/normalise.ts";
import { absentReferences, unresolvedText } from "../core/references.ts";
import { notActedUpon } from "../core/unsupported.ts";
import { decodeManifests } from "../core/validate.ts";
import { type ApplyOptions, type Change, change, type Incoming, type Outcome } from "./apply-change.ts";
import { planRow, pruneRow } from "./apply-plan.ts";
import { isAssetStatus, materialise } from "./assets.ts";
import type { Context } from "./context.ts";
import { imagePullRows, type PulledImages, pullImages } from "./image-pulls.ts";
import { wireManifest, wouldBeManifest } from "./wire.ts";

/** POST /apply: the processing order of the orchestration API, section 4. */
export async function apply(context: Context, body: unknown, options: ApplyOptions): Promise<ApplyResult> {
  const drafts = decode(context, body);
  const incoming = await withAssets(context, expand(drafts), options);
  const pulled = options.force && !options.dryRun ? await pullIncoming(context, incoming) : undefined;
  const outcome = await commit(context, { incoming, options, pulled });
  const result = report(context, outcome, options);
  return pulled === undefined ? result : { ...result, image_pulls: imagePullRows(pulled) };
}

/** Step 1. */
function decode(context: Context, body: unknown): DraftManifest[] {
  const { manifests, problems } = decodeManifests(body, { limits: context.limits });
  if (problems.length > 0) throw problemsFailure(problems);
  return manifests;
}

/** Step 3 for the one block that the server itself expands. */
function expand(drafts: DraftManifest[]): Incoming[] {
  const many = drafts.length > 1;
  const incoming = drafts.flatMap((draft, index) => {
    const path = many ? `manifest ${index + 1}: ` : "";
    return expandApp(draft).map((part): Incoming => {
      const key = { kind: part.kind, scope: part.scope, name: part.name };
      return { key, spec: normaliseSpec(part.kind, part.spec), ifRevision: part.ifRevision, path, asset: undefined };
    });
  });
  refuseTwins(incoming);
  return incoming;
}

function refuseTwins(incoming: Incoming[]): void {
  const seen = new Map<string, Incoming>();
  for (const item of incoming) {
    const text = formatKey(item.key);
    const twin = seen.get(text);
    if (twin !== undefined) {
      throw new Failure("invalid", `${item.path}${text} is in this apply twice; an app block makes one of them`);
    }
    seen.set(text, item);
  }
}

/** Step 4, first half: asset bytes. The digests are stamped inside the transaction. */
async function withAssets(context: Context, incoming: Incoming[], options: ApplyOptions): Promise<Incoming[]> {
  const problems: Problem[] = [];
  for (const item of incoming) {
    if (item.key.kind !== "asset") continue;
    const status = context.store.status.get(item.key);
    const previous = isAssetStatus(status) ? status : undefined;
    const asset = await materialise(context, item, { dryRun: options.dryRun, previous });
    problems.push(...asset.problems.map(({ path, message }) => ({ path: `${item.path}${path}`, message })));
    item.asset = { files: asset.files, errors: asset.errors, declared: asset.declared };
  }
  if (problems.length > 0) throw problemsFailure(problems);
  return incoming;
}

/** Before anything is written, so that an image that cannot be had refuses the whole apply. */
function pullIncoming(context: Context, incoming: Incoming[]): Promise<PulledImages> {
  return pullImages(context, {
    manifests: incoming.map(({ key, spec }) => ({ ...key, spec })),
    registries: incoming.filter(({ key }) => key.kind === "registry").map(({ spec }) => spec),
  });
}

/** Thrown inside the transaction of a dry run to undo it: what is reported is what would really have happened. */
class DryRunDone extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super("dry run");
    this.outcome = outcome;
  }
}

/** Steps 5 to 8, whole or not at all. */
async function commit(context: Context, changing: Change): Promise<Outcome> {
  try {
    return await context.store.write((tx) => {
      const outcome = change(context, tx, changing);
      if (changing.options.dryRun) throw new DryRunDone(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRunDone) return error.outcome;
    throw error;
  }
}

function report(context: Context, { puts, readers, pruned, referent }: Outcome, options: ApplyOptions): ApplyResult {
  const warnings = puts.flatMap(({ manifest }) => {
    const waits = absentReferences(manifest, referent).map((use) => `${use.path}: ${unresolvedText(use)}`);
    return [...notActedUpon(manifest.kind, manifest.spec), ...waits].map((text) => `${formatKey(manifest)}: ${text}`);
  });
  const result: ApplyResult = {
    applied: puts.map(({ manifest }) => (options.dryRun ? wouldBeManifest(manifest) : wireManifest(manifest))),
    pruned: pruned.map(formatKey),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  if (!options.dryRun) return result;
  return {
    ...result,
    current: puts.map(({ previous }) => (previous === undefined ? null : wireManifest(previous))),
    dry_run: true,
    plan: [
      ...[...puts, ...readers].map((row) => planRow(context, row, referent)),
      ...pruned.map((key) => pruneRow(context, key)),
    ],
  };
}
