import { apply, type ListedManifest, listManifests } from "../../orchestration/api/apply.ts";
import {
  type ClosingField,
  closingFields,
  lostClosings,
  movedToPlugin,
  readClosings,
} from "../../orchestration/api/kinds/ingress-plugin.ts";
import { keyOf } from "../../orchestration/api/manifest-key.ts";
import { listPlugins } from "../../orchestration/api/plugins.ts";
import { routingFault } from "../../orchestration/core/plugins/ingress-plugin.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type Command, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { dropFlag } from "../shell/manifest-flags.ts";
import { requireNamed } from "../shell/named.ts";
import { warn } from "../shell/progress-answer.ts";
import { refOf, parseReference } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { optionalWord } from "../shell/words.ts";

export const moveCommand: Command = {
  name: "move",
  summary: "let a plugin route ingresses that stand, in place of HAProxy or another plugin",
  usage: ["ingress move --to PLUGIN [SCOPE|SCOPE/NAME] [--drop FIELDS] [-y]"],
  examples: [
    "ingress move --to caddy  every ingress; shows what each would lose, and asks",
    "ingress move --to caddy shop/web -y  one of them, without a question",
  ],
  detail: [
    "A plugin gets one host, the service, its port, tls, locations and lb. Other fields are removed from",
    "the stored ingress: remove them from the manifest too, or the next apply brings them back. An",
    "ingress with tcp stays where it is. Ingresses that are applied later go to the plugin if the server",
    "runs with --ingress-plugin, or if their manifests name it.",
    "Fields that close a site are lost only if --drop names them; -y does not stand for that:",
    `${closingFields.join(", ")}. Without them everybody gets in.`,
  ],
  flags: [{ name: "to", value: "PLUGIN", summary: "the plugin, as berth plugins shows it" }, dropFlag, yesFlag],
  async run(context, args) {
    const plugin = args.value("to");
    if (plugin === undefined) throw usageFailure("say where: ingress move --to PLUGIN");
    const reference = optionalWord(args, "ingress move --to PLUGIN [SCOPE|SCOPE/NAME]");
    await requireRouter(context, plugin);
    const found = await ingressesOf(context, reference);
    const moves = found.flatMap((ingress) => moveOf(ingress, plugin) ?? []);
    const staying = found.filter(({ spec }) => spec.tcp !== undefined).map(refOf);
    for (const ref of staying) context.terminal.note(`${ref}: stays with HAProxy, a plugin serves no TCP port`);
    if (moves.length === 0) {
      return answer(context, { moved: [], staying }, () => `no ingress to move to ${printable(plugin)}`);
    }
    for (const { ref, from, lost } of moves) {
      const loses = lost.length === 0 ? "" : `; loses ${lost.join(", ")}`;
      context.terminal.note(printable(`${ref}: from ${from} to ${plugin}${loses}`));
    }
    requireDropped(moves, args.value("drop"));
    const count = moves.length === 1 ? "1 ingress" : `${moves.length} ingresses`;
    await assent(`Move ${count} to ${printable(plugin)}?`, args, context);
    const { warnings = [] } = await context.api.call(apply, {
      body: moves.map(({ manifest }) => manifest),
      query: { drop: args.value("drop") },
    });
    warn(context, warnings);
    const moved = moves.map(({ ref, from, lost }) => ({ ingress: ref, from, lost }));
    answer(context, { moved, staying }, () => `moved ${count} to ${printable(plugin)}; see: berth ingress ls`);
    return exitCodes.done;
  },
};

/** What closes a site takes a word of its own: a yes to everything is not enough. */
function requireDropped(moves: readonly { ref: string; closings: ClosingField[] }[], text = ""): void {
  const { fields, unknown } = readClosings(text);
  if (unknown !== undefined) {
    throw usageFailure(`--drop: "${printable(unknown)}" is not one of ${closingFields.join(", ")}`);
  }
  const open = moves.flatMap(({ ref, closings }) => {
    const left = closings.filter((field) => !fields.includes(field));
    return left.length === 0 ? [] : [{ ref, left }];
  });
  if (open.length === 0) return;
  const lines = open.map(({ ref, left }) => printable(`${ref} would lose ${left.join(", ")} and be open to everybody`));
  const all = closingFields.filter((field) => moves.some(({ closings }) => closings.includes(field)));
  throw new CommandFailure(`${lines.join("\n")}\nto lose them all the same, add --drop ${all.join(",")}`);
}

async function requireRouter({ api }: Context, name: string): Promise<void> {
  const found = (await api.call(listPlugins)).plugins.find((one) => one.name === name || one.aliases.includes(name));
  const argv = new Map((found?.commands ?? []).map((command) => [command.name, command]));
  const fault = routingFault(name, found && { yml: found, enabled: found.enabled, argv });
  if (fault !== undefined) throw new CommandFailure(printable(fault));
}

async function ingressesOf(context: Context, reference: string | undefined): Promise<ListedManifest[]> {
  const { word, scope = word, name } = reference === undefined ? { word: undefined } : parseReference(reference);
  const found = await context.api.call(listManifests, { query: { kind: "ingress", scope, name } });
  if (found.length === 0) await requireNamed(reference, context);
  return found;
}

/** Undefined for one that the plugin has, or that no plugin can have. */
function moveOf(ingress: ListedManifest, plugin: string) {
  const own = Object.fromEntries(Object.entries(ingress.spec).filter(([field]) => !field.startsWith("_")));
  const change = own.plugin === plugin ? undefined : movedToPlugin(own, plugin);
  if (change === undefined) return undefined;
  const { spec, lost } = change;
  const closings = lostClosings(own, spec);
  // Refused by the server when somebody else has changed it meanwhile.
  const manifest = { ...keyOf(ingress), spec, metadata: { if_revision: ingress.metadata?.revision ?? 0 } };
  return {
    ref: refOf(ingress),
    from: typeof own.plugin === "string" ? own.plugin : "HAProxy",
    lost,
    closings,
    manifest,
  };
}
