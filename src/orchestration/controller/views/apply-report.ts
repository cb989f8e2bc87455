import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { ApplyResult, PlanRow } from "../../api/apply.ts";
import { changedPaths } from "../../core/diff.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import type { BlockRecord } from "../../store/plugin-records.ts";
import { handOver } from "../state/makers.ts";
import { runsAsRoot } from "../../core/plugins/conflicts.ts";
import { generatedTexts, hideGenerated } from "../../core/plugins/generated.ts";
import { absentReferences, unresolvedText } from "../../core/references.ts";
import { uncertifiedHosts } from "../../core/local-names.ts";
import { openBeside } from "../../core/open-beside.ts";
import { notActedUpon } from "../../core/unsupported.ts";
import { emptyBuckets, missingService } from "../write/empty-buckets.ts";
import { notServed } from "../write/not-served.ts";
import type { ApplyOptions, Outcome } from "../write/apply-change.ts";
import { planRow, pruneRow } from "../write/apply-plan.ts";
import type { Context } from "../state/context.ts";
import type { ExpandedBlock, Expansions } from "../plugins/expansion.ts";
import type { PortNotes } from "../desired/host-ports.ts";
import { volumeWarnings } from "../desired/named-volumes.ts";
import { unwatched } from "../write/unwatched.ts";
import { shownManifest, wouldBeManifest } from "../state/shown-manifest.ts";

interface Reporting {
  outcome: Outcome;
  expansions: Expansions;
  /** What did not begin after the commit. */
  started: string[];
  ports: PortNotes;
}

/** The answer of an apply. */
export function report(
  context: Context,
  { outcome, expansions, started, ports }: Reporting,
  options: ApplyOptions,
): ApplyResult {
  const { puts, pruned, findReferenced } = outcome;
  const unheeded = puts.flatMap((put) => {
    const { manifest } = put;
    const waits = absentReferences(manifest, findReferenced).map((use) => `${use.path}: ${unresolvedText(use)}`);
    const shared = volumeWarnings(context, manifest);
    const uncertified = uncertifiedHosts(manifest.kind, manifest.spec);
    const empty = [...emptyBuckets(context, outcome, manifest), ...missingService(context, outcome, manifest)];
    const idle = [...notServed(context, put), ...uncertified, ...unwatched(context, put), ...empty];
    return [...notActedUpon(manifest.kind, manifest.spec), ...idle, ...waits, ...shared].map(
      (text) => `${formatKey(manifest)}: ${text}`,
    );
  });
  const told = (some: Notes) => [...some].flatMap(([ref, notes]) => notes.map((note) => `${ref}: ${note}`));
  const beside = openWays(context, outcome);
  const clashes = [...told(ports), ...told(beside)];
  const handedOn = expansions.blocks.flatMap(({ ref, warnings: texts }) => texts.map((text) => `${ref}: ${text}`));
  const warnings = [...unheeded, ...handedOn, ...rootNotes(expansions), ...clashes, ...outcome.warnings, ...started];
  const result: ApplyResult = {
    applied: puts.map(({ manifest }) => (options.dryRun ? wouldBeManifest(manifest) : shownManifest(manifest))),
    pruned: pruned.map(formatKey),
    ...(expansions.installs.length > 0 ? { plugin_installs: expansions.installs } : {}),
    ...(expansions.blocks.length > 0 ? { plugin_expansions: expansions.blocks.map(expansionRow) } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  return options.dryRun
    ? planned(context, {
        result,
        outcome,
        expansions,
        ports,
        beside,
        at: options.restoring?.at,
        noBackup: options.noBackup,
      })
    : result;
}

/** Resource → what is to be said of it. */
type Notes = ReadonlyMap<string, readonly string[]>;

/** Notes on the ingresses that this apply changes, as all will be afterwards. */
function openWays({ store }: Context, { puts, pruned }: Outcome): Notes {
  const changed = puts.filter(({ manifest, outcome }) => manifest.kind === "ingress" && outcome !== "unchanged");
  if (changed.length === 0) return new Map();
  const refs = new Set(changed.map(({ manifest }) => formatKey(manifest)));
  const gone = new Set([...refs, ...pruned.map(formatKey)]);
  const others = store.manifests.list({ kind: "ingress" }).filter((one) => !gone.has(formatKey(one)));
  const notes = openBeside([...others, ...changed.map(({ manifest }) => manifest)]);
  return new Map([...notes].filter(([ref]) => refs.has(ref)));
}

/** An install shows and asks; an apply that brings a plugin can only tell. */
function rootNotes({ installs, blocks }: Expansions): string[] {
  return installs.flatMap(({ plugin: name, source }) => {
    const plugin = blocks.find((block) => block.plugin.yml.name === name)?.plugin;
    if (plugin === undefined || !runsAsRoot(plugin.permissions)) return [];
    const why = plugin.yml.permissions === undefined ? "says nothing of what it needs" : "asks for it";
    return [`the plugin "${name}" came from ${source} and runs as the user of the server: its plugin.yml ${why}`];
  });
}

interface Planning {
  result: ApplyResult;
  outcome: Outcome;
  expansions: Expansions;
  ports: PortNotes;
  beside: Notes;
  /** The time that a restore goes back to. */
  at: string | undefined;
  noBackup: boolean | undefined;
}

function planned(
  context: Context,
  { result, outcome, expansions, ports, beside, at, noBackup }: Planning,
): ApplyResult {
  const { puts, readers, pruned, leftovers, findReferenced } = outcome;
  const unwanted = at === undefined ? "not in this apply (prune)" : `not wanted at ${at}`;
  const generated = generatedTexts(
    expansions.blocks.map(({ config, ready }) => ({ config, ready: ready.map(({ action }) => action) })),
  );
  return {
    ...result,
    applied: result.applied.map((manifest) => ({ ...manifest, spec: hideGenerated(manifest.spec, generated) })),
    current: puts.map(({ previous }) => (previous === undefined ? null : shownManifest(previous))),
    dry_run: true,
    plan: [
      ...expansions.unknown.map(unknownRow),
      ...expansions.blocks.map((block, index) => blockRow(block, outcome.blocks[index]?.previous)),
      ...[...puts, ...readers].map((row) => {
        const planned = planRow(context, row, findReferenced, noBackup);
        return {
          ...planned,
          notes: [...planned.notes, ...[ports, beside].flatMap((some) => some.get(planned.ref) ?? [])],
        };
      }),
      ...pruned.map((key) => pruneRow(context, key, leftovers.includes(key) ? "its block makes it no more" : unwanted)),
    ],
  };
}

function expansionRow({ ref, manifests }: ExpandedBlock): { from: string; to: string[] } {
  return { from: ref, to: manifests.map((manifest: ManifestKey) => formatKey(manifest)) };
}

function unknownRow({ ref, why, stands }: Expansions["unknown"][number]): PlanRow {
  return { ref, action: stands ? "update" : "create", changed: [], replicas: [], notes: [why] };
}

/** The block itself; what its plugin would have done is listed, and nothing of it was. */
function blockRow({ key, spec, ready, plugin }: ExpandedBlock, previous: BlockRecord | undefined): PlanRow {
  const changed = previous === undefined ? [] : changedPaths(previous.spec, spec);
  const handed = handOver(previous, makerOf(plugin));
  const isChanged = changed.length > 0 || handed !== undefined;
  const action = previous === undefined ? "create" : isChanged ? "update" : "unchanged";
  const asked = ready.map(({ action: { label } }) => `its plugin asks for ${label}`);
  return {
    ref: formatKey(key),
    action,
    changed,
    replicas: [],
    notes: [...(handed === undefined ? [] : [handed]), ...asked],
  };
}
