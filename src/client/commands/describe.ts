import type { DataOf } from "../../base/wire/endpoint.ts";
import { type Manifest, formatKey } from "../../orchestration/api/manifest.ts";
import { hostsOf } from "../../base/pure/hosts.ts";
import { listCertificates } from "../../ingress/api/certificates.ts";
import { getIngress } from "../../ingress/api/ingress.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { describe } from "../../orchestration/api/describe.ts";
import { getPod } from "../../orchestration/api/pods.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { nameMeant } from "../shell/named.ts";
import { lastWords } from "../wait/last-words.ts";
import { normalKind } from "../basics/kinds.ts";
import { isPodKind, isWell } from "../facts/look.ts";
import { findPods, isPodWord } from "../wait/pods.ts";
import { refOf, resourceReference } from "../basics/reference.ts";
import { certificatesFor, certificatesText } from "../text/certificate-text.ts";
import { upstreamsText } from "../text/ingress-text.ts";
import { troublesOf } from "../text/trouble-text.ts";
import { knownBackups, readTroubles } from "../wait/troubles.ts";
import { childrenOf } from "../text/resource-status.ts";
import { tableSetup } from "./get.ts";

export const describeCommand: CommandBody = {
  usage: ["describe KIND NAME", "describe KIND SCOPE/NAME", "describe SCOPE/NAME", "describe pod SCOPE/NAME.REPLICA"],
  examples: [
    "describe shop/web  how the app is, why, and its pods",
    "describe pod shop/web.k3x7a  one pod, with its environment as digests",
  ],
  detail: ["Several resources of one name are shown one after the other, a plugin's block first."],
  yaml: true,
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

/** A plugin's blocks first. */
function findManifests(text: string, { api }: Context): Promise<Manifest[]> {
  const { kind, scope, name } = resourceReference(text);
  return api.call(listManifests, { query: { kind, scope, name, blocks: "true" } });
}

async function describeOne(one: { kind: string; text: string }, reveal: boolean, context: Context): Promise<number> {
  const { scope, name } = resourceReference(one.text);
  const description = await context.api.call(describe, { query: { kind: one.kind, scope, name } });
  await show(description, reveal, context);
  return exitCodes.done;
}

type Description = DataOf<typeof describe>;

async function show(description: Description, reveal: boolean, context: Context): Promise<void> {
  const { kind, scope = "", name } = description.manifest;
  const { describeText, yamlText } = await loadText();
  if (context.yaml) {
    context.terminal.out(yamlText(description));
    return;
  }
  const words =
    isWell(description.status?.phase) || context.json ? [] : await lastWords(context, formatKey({ kind, scope, name }));
  const troubles = context.json ? [] : troublesOf({ kind, scope, name }, await readTroubles(context));
  const isMeant = (one: { kind: string; scope: string; name: string }) =>
    one.kind === kind && one.scope === scope && one.name === name;
  const backup = isPodKind(kind) ? (await knownBackups(context))?.find(isMeant) : undefined;
  const isIngress = kind === "ingress" && !context.json;
  const replicas = isIngress ? await replicaLines(description, context) : [];
  const certificates = isIngress ? await certificateLines(description, context) : [];
  answer(context, { ...description, drill: backup?.drill }, () =>
    [
      describeText(description, { ...tableSetup(context), reveal, troubles, backup }),
      ...replicas,
      ...certificates,
      ...words,
    ].join("\n"),
  );
}

/** The replicas that an ingress leads to, and what is wrong with it. */
async function replicaLines({ manifest }: Description, context: Context): Promise<string[]> {
  const { sites } = await context.api.call(getIngress);
  const site = sites.find(({ ingress }) => ingress === `${manifest.scope}/${manifest.name}`);
  const setup = tableSetup(context);
  const text = site === undefined ? "" : upstreamsText(site, setup);
  return text === "" ? [] : ["", setup.style.bold("replicas"), text];
}

/** The certificates of an ingress, where it has some. */
async function certificateLines({ manifest }: Description, context: Context): Promise<string[]> {
  if (manifest.spec.tls === undefined) return [];
  const hosts = hostsOf(manifest.spec);
  const { certificates } = await context.api.call(listCertificates);
  const setup = tableSetup(context);
  const text = certificatesText(certificatesFor(certificates, hosts), setup);
  return text === "" ? [] : ["", setup.style.bold("certificates"), text];
}

/** Resources of different kinds may share an identity: all are shown, but one envelope can only hold one. */
async function describeFound(
  many: { text: string; found: readonly Manifest[] },
  reveal: boolean,
  context: Context,
): Promise<number> {
  const { text, found } = many;
  if (found.length === 0) {
    const meant = await nameMeant(text, context);
    throw new CommandFailure(`nothing is called "${text}"${meant || "; see: berth get all"}`);
  }
  const descriptions: Description[] = [];
  const inBlock = new Set<string>();
  for (const { kind, scope, name } of found) {
    // The files that a block runs on are its own affair: it names them.
    if (kind === "asset" && inBlock.has(refOf({ kind, scope, name }))) continue;
    const description = await context.api.call(describe, { query: { kind, scope, name } });
    for (const { ref } of childrenOf(description.status)) inBlock.add(ref);
    descriptions.push(description);
    // The block is the answer, and one envelope holds one.
    if (inBlock.size > 0 && (context.json || context.yaml)) break;
  }
  if (descriptions.length > 1 && (context.json || context.yaml)) {
    throw usageFailure(`"${text}" names ${found.map(refOf).join(" and ")}: name the kind too`);
  }
  for (const [index, description] of descriptions.entries()) {
    if (index > 0) context.terminal.out("");
    await show(description, reveal, context);
  }
  return exitCodes.done;
}

async function describePods(text: string, reveal: boolean, context: Context): Promise<number> {
  const { pods } = await findPods(context.api, text);
  if (pods.length === 0) throw new CommandFailure(`no pod "${text}"; see: berth get pods`);
  if (pods.length > 1 && (context.json || context.yaml)) {
    throw usageFailure(`"${text}" names ${pods.map((pod) => pod.name).join(" and ")}: name one`);
  }
  for (const [index, { name }] of pods.entries()) {
    const detail = await context.api.call(getPod, { params: { name }, query: {} });
    if (index > 0) context.terminal.out("");
    const { podText, yamlText } = await loadText();
    if (context.yaml) context.terminal.out(yamlText(detail));
    else answer(context, detail, () => podText(detail.pod, { ...tableSetup(context), reveal }));
  }
  return exitCodes.done;
}

/** Loaded when used: it writes YAML. */
function loadText() {
  return import("../text/describe-text.ts");
}
