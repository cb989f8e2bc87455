import { ApiError } from "../../base/wire/client.ts";
import { coreKinds, formatKey } from "../../orchestration/api/manifest.ts";
import { type ListedManifest, listManifests } from "../../orchestration/api/apply.ts";
import { listPods, type PodRecord } from "../../orchestration/api/pods.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { storedWorkloads, unlessAway } from "../shell/engine-away.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { kindNamed } from "../basics/kinds.ts";
import { noWords } from "../shell/words.ts";
import { getLeftovers } from "../text/leftovers.ts";
import { isPodKind } from "../facts/look.ts";
import { findPods, isPodWord } from "../wait/pods.ts";
import { degradedText, podTable } from "../text/pod-table.ts";
import { kindWords, nothingNamed, requireNamed } from "../shell/named.ts";
import { refOf, parseReference } from "../basics/reference.ts";
import { resourceTable, type TableSetup } from "../text/resource-table.ts";
import { printable } from "../basics/style.ts";
import { troublesOf } from "../text/trouble-text.ts";
import { didYouMean } from "../basics/suggest.ts";
import { readTroubles } from "../wait/troubles.ts";
import { watch } from "../shell/watch.ts";

export const getCommand: CommandBody = {
  usage: [
    "get [KIND] [SCOPE[/NAME]]",
    "get pods [SCOPE[/NAME[.REPLICA]]]",
    "get all [SCOPE[/NAME]]",
    "get leftovers [SCOPE[/NAME]]",
  ],
  examples: [
    "get  everything, with status and reason",
    "get pods shop -w  the pods of a scope, until Ctrl-C",
    "get deployment shop/web -o yaml  the manifest, to edit and apply again",
    "get deployment shop -o name  names alone, for xargs berth restart",
  ],
  detail: [
    "KIND, singular or plural, is pods, all (default), or one of",
    `${coreKinds.join(", ")}, or a kind of a plugin's blocks.`,
    "leftovers lists what deletes without --prune left behind: volumes, config and folders.",
    "-o yaml prints manifests that can be applied again. Through a pipe, -w prints after each change.",
  ],
  flags: [{ name: "watch", short: "w", summary: "go on showing it until Ctrl-C" }],
  yaml: true,
  names: true,
  groups: true,
  async run(context, args) {
    const [first, second, ...more] = args.words;
    noWords({ words: more }, "get [KIND] [SCOPE[/NAME]]");
    if (first === "leftovers") {
      if (context.yaml || context.names || args.on("watch")) {
        throw usageFailure("get leftovers prints text or json, once");
      }
      return getLeftovers(second, context);
    }
    const read = readerOf(first, second, context);
    if (args.on("watch")) {
      const look = async () => {
        const view = await read(false);
        const key = shown(view, 0, context);
        return { text: shown(view, context.clock.now(), context), key };
      };
      return watch(context, { look, everyMs: context.limits.followMs });
    }
    const view = await read(true);
    if (context.yaml) context.terminal.data(await yamlOf(view.documents));
    else if (context.names) printNames(context, view);
    else answer(context, view.data, () => view.text(context.clock.now()));
    return view.exitCode;
  },
};

/** What was asked for, as it is now. */
interface View {
  data: unknown;
  text(now: number): string;
  /** For `-o yaml`. */
  documents: readonly unknown[];
  /** For `-o name`: what other commands take. */
  names: readonly string[];
  exitCode: number;
}

function printNames({ terminal }: Context, { names }: View): void {
  if (names.length > 0) terminal.out(names.map(printable).join("\n"));
}

function shown(view: View, now: number, { json, names }: Context): string {
  if (names) return view.names.join("\n");
  return json ? JSON.stringify({ status: "ok", data: view.data }, null, 2) : view.text(now);
}

/** `once`: the first look, which also says on stderr what cannot be known. */
type Reader = (once: boolean) => Promise<View>;

function readerOf(first: string | undefined, second: string | undefined, context: Context): Reader {
  if (first !== undefined && isPodWord(first)) return (once) => getPods(second, once, context);
  const kind = first === undefined || first === "all" ? undefined : kindNamed(first);
  if (kind !== undefined || first === "all") return (once) => getManifests({ kind, reference: second, once }, context);
  if (first !== undefined && second !== undefined)
    return (once) => getBlocks({ kind: first, reference: second, once }, context);
  return (once) => getManifests({ kind: undefined, reference: first, once }, context);
}

/** Loaded when used, as it is not small. */
async function yamlOf(documents: readonly unknown[]): Promise<string> {
  const { stringify } = await import("yaml");
  return documents.map((document) => stringify(document, { lineWidth: 0 }).trimEnd()).join("\n---\n");
}

/** As it can be applied again: what the server adds to it is left out. */
function applicable({ kind, scope, name, spec }: ListedManifest) {
  const own = Object.entries(spec).filter(([key]) => !key.startsWith("_"));
  return { kind, ...(scope ? { scope } : {}), name, spec: Object.fromEntries(own) };
}

async function getPods(reference: string | undefined, once: boolean, context: Context): Promise<View> {
  const asked = await unlessAway(() => findPods(context.api, reference));
  if ("away" in asked) return storedInstead(reference, { why: asked.away, once }, context);
  const { found } = asked;
  if (found.pods.length === 0 && kindNamed(reference ?? "") === undefined) await requireNamed(reference, context);
  return {
    data: found,
    documents: found.pods,
    names: found.pods.map(({ name }) => name),
    exitCode: exitCodes.done,
    text: (now) => {
      const setup = { ...tableSetup(context), now };
      const parts = [found.pods.length === 0 ? "no pods" : podTable(found.pods, setup)];
      if (found.degraded.length > 0) parts.push("", degradedText(found.degraded, setup));
      return parts.join("\n");
    },
  };
}

/** What is stored, for when the server cannot say what runs. */
async function storedInstead(
  reference: string | undefined,
  { why, once }: { why: string; once: boolean },
  context: Context,
): Promise<View> {
  if (context.json || context.yaml || context.names) throw new CommandFailure(why);
  const manifests = await storedWorkloads(context.api, reference);
  if (once) tellAway(why, context);
  const text = (now: number) => manifestTables({ manifests, pods: undefined }, { ...tableSetup(context), now });
  return { data: manifests, documents: manifests, names: manifests.map(refOf), exitCode: exitCodes.failed, text };
}

interface Wanted {
  kind: string | undefined;
  reference: string | undefined;
  once: boolean;
}

/** A kind that is not built in may be one of a plugin: the server knows. */
async function getBlocks(wanted: Wanted & { kind: string }, context: Context): Promise<View> {
  try {
    return await getManifests(wanted, context);
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    throw usageFailure(`unknown kind "${wanted.kind}"${didYouMean(wanted.kind, kindWords)}`);
  }
}

function isUnknownKind(error: unknown): boolean {
  return error instanceof ApiError && error.data.reason === "UnknownKind";
}

/** A word that is not a scope may be a plugin's kind; undefined otherwise. */
async function blocksOfKind(kind: string, { api }: Context): Promise<readonly ListedManifest[] | undefined> {
  return api.call(listManifests, { query: { kind, status: "true" } }).catch((error: unknown) => {
    if (isUnknownKind(error)) return undefined;
    throw error;
  });
}

async function getManifests(wanted: Wanted, context: Context): Promise<View> {
  const named = wanted.reference === undefined ? undefined : parseReference(wanted.reference);
  const query = { kind: wanted.kind ?? named?.kind, scope: named?.scope ?? named?.word, name: named?.name };
  const found = await context.api.call(listManifests, { query: { ...query, blocks: "true", status: "true" } });
  const word = wanted.kind === undefined && found.length === 0 ? named?.word : undefined;
  const blocks = word === undefined ? undefined : await blocksOfKind(word, context);
  const manifests = blocks ?? found;
  if (manifests.length === 0 && blocks === undefined && wanted.reference !== undefined) {
    const what = wanted.kind === undefined ? "" : `${wanted.kind} `;
    throw await nothingNamed(wanted.reference, context, what);
  }
  const isForPrograms = context.json || context.yaml || context.names;
  const pods = isForPrograms ? [] : await podsOf(manifests, wanted.once, context);
  const troubles = isForPrograms ? [] : await troublesAround(manifests, context);
  return {
    data: manifests,
    documents: manifests.map(applicable),
    names: manifests.map(refOf),
    exitCode: exitCodes.done,
    text: (now) =>
      [
        manifestTables({ manifests, pods, kind: wanted.kind ?? word }, { ...tableSetup(context), now }),
        ...(troubles.length === 0 ? [] : ["", ...troubles]),
      ].join("\n"),
  };
}

/** What is wrong for visitors of what is listed, a line each. */
async function troublesAround(manifests: readonly ListedManifest[], context: Context): Promise<string[]> {
  if (!manifests.some(({ kind }) => isPodKind(kind) || kind === "ingress")) return [];
  const troubles = await readTroubles(context);
  const { red } = context.terminal.style;
  const lines = manifests.flatMap((one) =>
    troublesOf(one, troubles).map((text) => `${formatKey({ scope: "", ...one })}: ${text}`),
  );
  return [...new Set(lines)].map((text) => `${red("✗")} ${text}`);
}

/** Undefined if the server cannot say what runs; the reason is printed. */
async function podsOf(
  manifests: readonly ListedManifest[],
  once: boolean,
  context: Context,
): Promise<readonly PodRecord[] | undefined> {
  if (!manifests.some(({ kind }) => isPodKind(kind))) return [];
  const asked = await unlessAway(() => context.api.call(listPods, { query: {} }));
  if ("found" in asked) return asked.found.pods;
  if (once) tellAway(asked.away, context);
  return undefined;
}

/**
 * The pods of a reference. If the server cannot say what runs, what is stored is shown in their place with the reason, and
 * the answer is undefined; with `-o json` it is the error.
 */
export async function askPods(reference: string | undefined, context: Context) {
  const asked = await unlessAway(() => findPods(context.api, reference));
  if ("found" in asked) return asked.found;
  const { text } = await storedInstead(reference, { why: asked.away, once: false }, context);
  context.terminal.out(text(context.clock.now()));
  tellAway(asked.away, context);
  return undefined;
}

function tellAway(why: string, { terminal }: Context): void {
  terminal.note(`${terminal.noteStyle.yellow("!")} what runs is unknown: ${printable(why)}`);
}

interface Found {
  manifests: readonly ListedManifest[];
  pods: readonly PodRecord[] | undefined;
  /** The one kind that was asked for. */
  kind?: string | undefined;
}

function manifestTables({ manifests, pods, kind }: Found, setup: TableSetup): string {
  if (manifests.length === 0)
    return kind === undefined ? "nothing here; apply something: berth apply -f FILE" : `no ${kind}s`;
  const present = new Set(manifests.map((manifest) => manifest.kind));
  const core = coreKinds.filter((one) => present.has(one));
  const kinds = [...[...present].filter((one) => !core.some((known) => known === one)), ...core];
  const tables = kinds.map((one) => {
    const own = manifests.filter((manifest) => manifest.kind === one);
    const table = resourceTable(one, own, { ...setup, pods });
    return kinds.length === 1 ? table : `${setup.style.bold(one)}\n${table}`;
  });
  return tables.join("\n\n");
}

export function tableSetup({ terminal, clock }: Context): TableSetup {
  return { style: terminal.style, width: terminal.width, now: clock.now() };
}
