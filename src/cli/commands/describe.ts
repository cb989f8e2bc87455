import type { DataOf } from "../../api/endpoint.ts";
import { type Manifest, formatKey } from "../../api/manifest.ts";
import { listManifests } from "../../api/orchestration/apply.ts";
import { describe } from "../../api/orchestration/describe.ts";
import { getPod } from "../../api/orchestration/pods.ts";
import { answer, type CommandBody, type Context } from "../command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../failures.ts";
import { lastWords } from "../last-words.ts";
import { normalKind } from "../kinds.ts";
import { findPods, isPodWord } from "../pods.ts";
import { resourceReference } from "../reference.ts";
import { tableSetup } from "./get.ts";

export const describeCommand: CommandBody = {
  usage: ["describe KIND NAME", "describe KIND SCOPE/NAME", "describe SCOPE/NAME", "describe pod SCOPE/NAME.REPLICA"],
  flags: [
    {
      name: "reveal",
      aliases: ["show-env"],
      summary: "show environment values instead of digests (config stays masked)",
    },
  ],
  async run(context, args) {
    const [first, second, ...more] = args.words;
    if (first === undefined || more.length > 0)
      throw usageFailure("say what to describe: KIND SCOPE/NAME, or SCOPE/NAME");
    const reveal = args.on("reveal");
    if (second !== undefined) {
      return isPodWord(first)
        ? describePods(second, reveal, context)
        : describeOne({ kind: normalKind(first), text: second }, reveal, context);
    }
    const found = await findManifests(first, context);
    if (found.length === 0 && first.includes(".")) return describePods(first, reveal, context);
    return describeFound({ text: first, found }, reveal, context);
  },
};

function findManifests(text: string, { api }: Context): Promise<Manifest[]> {
  const { kind, scope, name } = resourceReference(text);
  return api.call(listManifests, { query: { kind, scope, name } });
}

async function describeOne(one: { kind: string; text: string }, reveal: boolean, context: Context): Promise<number> {
  const { scope, name } = resourceReference(one.text);
  const description = await context.api.call(describe, { query: { kind: one.kind, scope, name } });
  await show(context, description, reveal);
  return exitCodes.done;
}

async function show(context: Context, description: DataOf<typeof describe>, reveal: boolean): Promise<void> {
  const { kind, scope = "", name } = description.manifest;
  const { describeText } = await loadText();
  const isWell = description.status?.phase === "ready";
  const words = isWell || context.json ? [] : await lastWords(context, formatKey({ kind, scope, name }));
  answer(context, description, () =>
    [describeText(description, { ...tableSetup(context), reveal }), ...words].join("\n"),
  );
}

/** Resources of different kinds may share an identity: all are shown, but one envelope can only hold one. */
async function describeFound(
  many: { text: string; found: readonly Manifest[] },
  reveal: boolean,
  context: Context,
): Promise<number> {
  const { text, found } = many;
  if (found.length === 0) throw new CommandFailure(`nothing is called "${text}"; see: berth get all`);
  const refs = found.map(({ kind, scope = "", name }) => formatKey({ kind, scope, name }));
  if (found.length > 1 && context.json) {
    throw usageFailure(`"${text}" names ${refs.join(" and ")}: name the kind too`);
  }
  for (const [index, { kind, scope, name }] of found.entries()) {
    const description = await context.api.call(describe, { query: { kind, scope, name } });
    if (index > 0) context.terminal.out("");
    await show(context, description, reveal);
  }
  return exitCodes.done;
}

async function describePods(text: string, reveal: boolean, context: Context): Promise<number> {
  const { pods } = await findPods(context.api, text);
  if (pods.length === 0) throw new CommandFailure(`no pod "${text}"; see: berth get pods`);
  if (pods.length > 1 && context.json) {
    throw usageFailure(`"${text}" names ${pods.map((pod) => pod.name).join(" and ")}: name one`);
  }
  for (const [index, { name }] of pods.entries()) {
    const detail = await context.api.call(getPod, { params: { name }, query: {} });
    if (index > 0) context.terminal.out("");
    const { podText } = await loadText();
    answer(context, detail, () => podText(detail.pod, { ...tableSetup(context), reveal }));
  }
  return exitCodes.done;
}

/** Loaded when used: it writes YAML. */
function loadText() {
  return import("../describe-text.ts");
}
