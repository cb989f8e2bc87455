import { listManifests } from "../../orchestration/api/apply.ts";
import { type CoreKind, coreKinds } from "../../orchestration/api/manifest.ts";
import type { CoreDraft } from "../../orchestration/core/draft.ts";
import { expandApp } from "../../orchestration/core/expand.ts";
import { parseKind } from "../../orchestration/core/kind.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answerData, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { fileFlag, formatFlag, manifestsAt } from "../shell/manifest-flags.ts";
import { nothingNamed } from "../shell/named.ts";
import { parseReference, type Reference } from "../basics/reference.ts";
import { optionalWord } from "../shell/words.ts";

interface Exported {
  documents: unknown[];
  losses: { path: string; message: string }[];
}

type Platform = (drafts: readonly CoreDraft[]) => Promise<Exported>;

const flags = [fileFlag, formatFlag];
const about = [
  "Reads the manifests that the server has stored, of a scope or a resource, or all; with -f those of",
  "files, without a server. Everything that does not carry over is reported on stderr with its path.",
  "The contents of volumes and the values of berth config are not exported.",
];

export const exportCommand: CommandBody = {
  usage: [],
  examples: [
    "export compose shop > compose.yaml  a scope for Docker Compose",
    "export kubernetes shop > shop.yaml  a scope for kubectl apply",
  ],
  flags: [],
  commands: [
    {
      name: "compose",
      summary: "print a Compose file of deployments, statefulsets and their files",
      usage: ["export compose [REF]", "export compose -f PATH…"],
      examples: ["export compose shop > compose.yaml  a scope as one file"],
      detail: about,
      flags,
      run: (context, args) =>
        exported(context, args, async (drafts) => {
          const { exportCompose } = await import("../manifests/export/compose/export.ts");
          const { document, losses } = exportCompose(drafts);
          return { documents: [document], losses };
        }),
    },
    {
      name: "kubernetes",
      summary: "print documents for kubectl apply: Deployment, Service, Ingress and others",
      usage: ["export kubernetes [REF]", "export kubernetes -f PATH…"],
      examples: [
        "export kubernetes shop > shop.yaml  a scope",
        "export kubernetes -f deploy/ | kubectl apply -f -  of files",
      ],
      detail: about,
      flags,
      run: (context, args) =>
        exported(context, args, async (drafts) => {
          const { exportKubernetes } = await import("../manifests/export/kubernetes/export.ts");
          return exportKubernetes(drafts);
        }),
    },
  ],
  run: async () => exitCodes.usage,
};

async function exported(context: Context, args: Arguments, platform: Platform): Promise<number> {
  const found = args.values("file").length > 0 ? await fromFiles(context, args) : await fromServer(context, args);
  const drafts = found.flatMap(draftsOf);
  const blocks = found.filter(({ kind }) => parseKind(String(kind)) === undefined);
  const { documents, losses } = await platform(drafts);
  const { stringify } = await import("yaml");
  const told = [
    ...blocks.map(({ kind, scope, name }) => {
      return {
        path: `${kind}/${scope}/${name}`,
        message: "is of a plugin's kind: apply it, and export what the server makes of it",
      };
    }),
    ...losses,
  ];
  answerData(context, { documents, losses: told }, () => {
    return documents
      .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd())
      .join("\n---\n");
  });
  if (context.json) return exitCodes.done;
  for (const { path, message } of told) context.terminal.note(`${path}: ${message}`);
  if (args.values("file").length === 0)
    context.terminal.note("values of berth config are not exported; see: berth config list SCOPE/NAME");
  return exitCodes.done;
}

async function fromFiles(context: Context, args: Arguments): Promise<Record<string, unknown>[]> {
  if (args.words.length > 0) throw usageFailure(`"${args.words[0]}" and -f exclude each other`);
  const set = await manifestsAt(args.values("file"), args, context);
  const { checkManifests } = await import("../manifests/check.ts");
  const { problems } = checkManifests(set.manifests, context.validation);
  if (problems.length > 0) throw new CommandFailure(set.explain(problems), exitCodes.failed, { problems });
  return set.manifests;
}

async function fromServer(context: Context, { words }: Arguments): Promise<Record<string, unknown>[]> {
  const reference = optionalWord({ words }, "name one scope or resource");
  const named: Partial<Reference> = reference === undefined ? {} : parseReference(reference);
  const { kind, scope, name, word } = named;
  const found = await context.api.call(listManifests, { query: { kind, scope: scope ?? word, name } });
  if (found.length === 0 && reference !== undefined) throw await nothingNamed(reference, context);
  if (found.length === 0) throw new CommandFailure("nothing is stored");
  return found;
}

/** A manifest of a kind of the server; an app as its deployment and ingress. */
function draftsOf(manifest: Record<string, unknown>): CoreDraft[] {
  const { scope, name, spec } = manifest;
  const kind = parseKind(String(manifest.kind));
  if (kind === undefined) return [];
  const fields = typeof spec === "object" && spec !== null ? (spec as Record<string, unknown>) : {};
  const draft = { kind, scope: typeof scope === "string" ? scope : "", name: String(name), spec: fields };
  return expandApp(draft).filter((part) => coreKinds.some((one: CoreKind) => one === part.kind));
}
