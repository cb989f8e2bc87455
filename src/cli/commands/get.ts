import { ApiError } from "../../api/client.ts";
import { coreKinds, type Manifest } from "../../api/manifest.ts";
import { listManifests } from "../../api/orchestration/apply.ts";
import { listPods, type PodRecord } from "../../api/orchestration/pods.ts";
import { answer, type CommandBody, type Context } from "../command.ts";
import { storedWorkloads, unlessAway } from "../engine-away.ts";
import { CommandFailure, exitCodes, usageFailure } from "../failures.ts";
import { kindNamed } from "../kinds.ts";
import { getLeftovers } from "../leftovers.ts";
import { isPodKind } from "../look.ts";
import { findPods, isPodWord } from "../pods.ts";
import { degradedText, podTable } from "../pod-table.ts";
import { parseReference } from "../reference.ts";
import { resourceTable, type TableSetup } from "../resource-table.ts";
import { printable } from "../style.ts";
import { didYouMean } from "../suggest.ts";

const words = ["pods", "all", "leftovers", ...coreKinds.map((kind) => `${kind}s`)];

export const getCommand: CommandBody = {
  usage: [
    "get [KIND] [SCOPE[/NAME]]",
    "get pods [SCOPE[/NAME[.REPLICA]]]",
    "get all [SCOPE[/NAME]]",
    "get leftovers [SCOPE[/NAME]]",
  ],
  detail: [
    "KIND, singular or plural, is pods, all (default), or one of",
    `${coreKinds.join(", ")}, or a kind of a plugin's blocks.`,
    "leftovers is what deletes without --prune left behind: volumes, config and folders.",
  ],
  flags: [],
  async run(context, { words: [first, second, ...more] }) {
    if (more.length > 0) throw usageFailure(`"${more[0]}" is one word too many: get [KIND] [SCOPE[/NAME]]`);
    if (first !== undefined && isPodWord(first)) return getPods(second, context);
    if (first === "leftovers") return getLeftovers(second, context);
    const kind = first === undefined || first === "all" ? undefined : kindNamed(first);
    if (kind !== undefined || first === "all") return getManifests({ kind, reference: second }, context);
    if (first !== undefined && second !== undefined) return getBlocks(first, second, context);
    return getManifests({ kind: undefined, reference: first }, context);
  },
};

async function getPods(reference: string | undefined, context: Context): Promise<number> {
  const found = await askPods(reference, context);
  if (found === undefined) return exitCodes.failed;
  answer(context, found, () => {
    const parts = [found.pods.length === 0 ? "no pods" : podTable(found.pods, tableSetup(context))];
    if (found.degraded.length > 0) parts.push("", degradedText(found.degraded, tableSetup(context)));
    return parts.join("\n");
  });
  return exitCodes.done;
}

interface Wanted {
  kind: string | undefined;
  reference: string | undefined;
}

/** A kind that is none of ours is one of a plugin, or of nobody: the server knows. */
async function getBlocks(kind: string, reference: string, context: Context): Promise<number> {
  try {
    return await getManifests({ kind, reference }, context);
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    throw usageFailure(`"${kind}" is no kind${didYouMean(kind, words)}`);
  }
}

function isUnknownKind(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400 && error.message.startsWith("unknown kind");
}

/** A word that is no scope may be a plugin's kind. */
async function blocksOfKind(kind: string, { api }: Context): Promise<readonly Manifest[]> {
  return api.call(listManifests, { query: { kind } }).catch((error: unknown) => {
    if (isUnknownKind(error)) return [];
    throw error;
  });
}

async function getManifests(wanted: Wanted, context: Context): Promise<number> {
  const named = wanted.reference === undefined ? undefined : parseReference(wanted.reference);
  const query = { kind: wanted.kind ?? named?.kind, scope: named?.scope ?? named?.word, name: named?.name };
  const found = await context.api.call(listManifests, { query });
  const word = wanted.kind === undefined && found.length === 0 ? named?.word : undefined;
  const manifests = word === undefined ? found : await blocksOfKind(word, context);
  const pods = context.json ? [] : await podsOf(manifests, context);
  answer(context, manifests, () => manifestTables({ manifests, pods, reference: wanted.reference }, context));
  return exitCodes.done;
}

/** Undefined, and the reason told, where nobody can say what runs. */
async function podsOf(manifests: readonly Manifest[], context: Context): Promise<readonly PodRecord[] | undefined> {
  if (!manifests.some(({ kind }) => isPodKind(kind))) return [];
  const asked = await unlessAway(() => context.api.call(listPods, { query: {} }));
  if ("found" in asked) return asked.found.pods;
  tellAway(asked.away, context);
  return undefined;
}

/**
 * The pods of a reference. Where nobody can say what runs, what is stored is shown in their place with the reason, and
 * the answer is undefined; with `-o json` it is the error.
 */
export async function askPods(reference: string | undefined, context: Context) {
  const asked = await unlessAway(() => findPods(context.api, reference));
  if ("found" in asked) return asked.found;
  if (context.json) throw new CommandFailure(asked.away);
  const manifests = await storedWorkloads(context.api, reference);
  context.terminal.out(manifestTables({ manifests, pods: undefined, reference }, context));
  tellAway(asked.away, context);
  return undefined;
}

function tellAway(why: string, { terminal }: Context): void {
  terminal.note(`${terminal.noteStyle.yellow("!")} what runs is unknown: ${printable(why)}`);
}

/** A word alone is taken for a scope, so a mistyped kind ends here. */
function nothing(reference: string | undefined): string {
  if (reference === undefined) return "nothing here; apply something: berth apply -f FILE";
  if (reference.includes("/")) return `nothing is stored under "${reference}"`;
  return `no scope "${reference}" here${didYouMean(reference, words)}`;
}

interface Found {
  manifests: readonly Manifest[];
  pods: readonly PodRecord[] | undefined;
  reference: string | undefined;
}

function manifestTables({ manifests, pods, reference }: Found, context: Context): string {
  if (manifests.length === 0) return nothing(reference);
  const setup = { ...tableSetup(context), pods };
  const present = new Set(manifests.map(({ kind }) => kind));
  const core = coreKinds.filter((kind) => present.has(kind));
  const kinds = [...core, ...[...present].filter((kind) => !core.some((one) => one === kind))];
  const tables = kinds.map((kind) => {
    const table = resourceTable(
      kind,
      manifests.filter((manifest) => manifest.kind === kind),
      setup,
    );
    return kinds.length === 1 ? table : `${context.terminal.style.bold(kind)}\n${table}`;
  });
  return tables.join("\n\n");
}

export function tableSetup({ terminal, clock }: Context): TableSetup {
  return { style: terminal.style, width: terminal.width, now: clock.now() };
}
