import { refOf } from "../basics/reference.ts";
import type { Manifest } from "../../orchestration/api/manifest.ts";
import type { ApplyResult, PlanRow } from "../../orchestration/api/apply.ts";
import { fieldChanges, valueText } from "../facts/changes.ts";
import { printable, type Style } from "../basics/style.ts";
import { listText } from "../basics/table-text.ts";

interface PlanTextOptions {
  style: Style;
  /** Show environment values instead of digests. */
  reveal: boolean;
  /** It happened already. */
  isPast?: boolean;
}

/** What a dry run says would happen: a block a resource, then the counts. */
export function planText(result: ApplyResult, options: PlanTextOptions): string {
  const rows = planRows(result);
  const blocks = rows.map((row) => rowText(row, sides(row, result), options));
  const noted = new Set(rows.flatMap((row) => row.notes.map((note) => `${row.ref}: ${note}`)));
  const warnings = (result.warnings ?? [])
    .filter((text) => !noted.has(text))
    .map((text) => `${options.style.yellow("!")} ${printable(text)}`);
  const expansions = (result.plugin_expansions ?? []).map(({ from, to }) => {
    return options.style.dim(`${from} becomes ${to.join(", ")}`);
  });
  return [...expansions, ...blocks, ...warnings, "", countsText(rows, options.isPast)].join("\n");
}

/** True when applying would write anything. */
export function hasChanges(result: ApplyResult): boolean {
  return planRows(result).some((row) => row.action !== "unchanged");
}

/** What was done, in the numbers of the plan: `applied 3 resources, deleted 1`. */
export function appliedText(plan: ApplyResult): string {
  const rows = planRows(plan);
  const count = (actions: readonly PlanRow["action"][]) => rows.filter((row) => actions.includes(row.action)).length;
  const [written, deleted] = [count(["create", "update"]), count(["delete"])];
  const parts = [
    ...(written > 0 ? [`applied ${written} ${resources(written)}`] : []),
    ...(deleted > 0 ? [written > 0 ? `deleted ${deleted}` : `deleted ${deleted} ${resources(deleted)}`] : []),
  ];
  return parts.join(", ");
}

function resources(count: number): string {
  return count === 1 ? "resource" : "resources";
}

/** Rows of the plan; what would be pruned is a row even where the server lists it apart. */
function planRows(result: ApplyResult): PlanRow[] {
  const rows = result.plan ?? [];
  const refs = new Set(rows.map((row) => row.ref));
  const pruned = result.pruned.filter((ref) => !refs.has(ref));
  return [...rows, ...pruned.map((ref): PlanRow => ({ ref, action: "delete", changed: [], replicas: [], notes: [] }))];
}

interface Sides {
  before: Manifest | undefined;
  after: Manifest | undefined;
}

function sides(row: PlanRow, result: ApplyResult): Sides {
  const index = result.applied.findIndex((manifest) => refOf(manifest) === row.ref);
  return { before: result.current?.[index] ?? undefined, after: result.applied[index] };
}

function rowText(row: PlanRow, { before, after }: Sides, { style, reveal }: PlanTextOptions): string {
  const side = (path: string, value: unknown) => printable(valueText(path, value, reveal));
  const isKnown = before !== undefined || after !== undefined;
  const changes = row.action === "update" && isKnown ? fieldChanges(row.changed, before?.spec, after?.spec) : [];
  const fields = changes.map((change) => [
    printable(change.path),
    side(change.path, change.before),
    `${style.dim("→")} ${side(change.path, change.after)}`,
  ]);
  // Only its plugin knows which values of a block may be shown.
  if (row.action === "update" && !isKnown) fields.push(...row.changed.map((path) => [printable(path), "changed", ""]));
  const lines = [
    head(row, style),
    ...(fields.length > 0 ? [listText(fields, { indent: "    " })] : []),
    ...replicaLines(row).map((line) => `    ${style.dim(printable(line))}`),
    ...servingLine(row, style),
    ...row.notes.map((note) => `    ${style.yellow("!")} ${printable(note)}`),
  ];
  return lines.join("\n");
}

function head(row: PlanRow, style: Style): string {
  if (row.action === "create") return style.green(`+ ${row.ref}`);
  if (row.action === "update") return style.yellow(`~ ${row.ref}`);
  if (row.action === "delete") return style.red(`- ${row.ref}`);
  return style.dim(`= ${row.ref}`);
}

/** Whether visitors notice. */
function servingLine({ serving }: PlanRow, style: Style): string[] {
  if (serving === undefined) return [];
  const { before, least } = serving;
  if (least === 0) return [`    ${style.yellow("!")} down for a moment: no replica serves while it is replaced`];
  return [`    ${style.dim(least < before ? `no downtime: at least ${least} of ${before} serve` : "no downtime")}`];
}

const doings = { create: "starts", replace: "replaces", remove: "removes" } as const;

/** Replicas with the same fate and reason share a line. */
function replicaLines(row: PlanRow): string[] {
  const groups = new Map<string, string[]>();
  for (const { replica_id, action, why } of row.replicas) {
    const key = `${action}\n${why}`;
    groups.set(key, [...(groups.get(key) ?? []), replica_id ?? ""]);
  }
  return [...groups].map(([key, ids]) => {
    const [action = "create", why = ""] = key.split("\n");
    const doing = doings[action as keyof typeof doings];
    const named = ids.filter((id) => id !== "").join(", ");
    const what = ids.length === 1 ? `${named === "" ? "1 " : ""}replica` : `${ids.length} replicas`;
    return `${doing} ${what}${named === "" ? "" : ` ${named}`}${why === "" ? "" : `: ${why}`}`;
  });
}

function countsText(rows: readonly PlanRow[], isPast = false): string {
  const count = (action: PlanRow["action"]) => rows.filter((row) => row.action === action).length;
  const parts = [
    [count("create"), isPast ? "created" : "to create"],
    [count("update"), isPast ? "changed" : "to change"],
    [count("delete"), isPast ? "deleted" : "to delete"],
    [count("unchanged"), "unchanged"],
  ] as const;
  const told = parts.filter(([amount]) => amount > 0).map(([amount, words]) => `${amount} ${words}`);
  return rows.every((row) => row.action === "unchanged") ? "no changes" : told.join(", ");
}
