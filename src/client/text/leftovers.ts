import { ApiError, type Client } from "../../base/wire/client.ts";
import { type Leftover, listLeftovers } from "../../orchestration/api/leftovers.ts";
import { answer, type Context } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import { parseReference } from "../basics/reference.ts";
import { printable, type Style } from "../basics/style.ts";

/** `get leftovers [SCOPE[/NAME]]` */
export async function getLeftovers(reference: string | undefined, context: Context): Promise<number> {
  const { word, scope = word, name } = reference === undefined ? {} : parseReference(reference);
  const found = await context.api.call(listLeftovers, { query: { scope, name } });
  const { style } = context.terminal;
  answer(context, found, () =>
    found.leftovers.length === 0 ? "nothing is left over" : tableOf(found.leftovers, style),
  );
  for (const error of found.errors ?? []) context.terminal.note(`! not looked at: ${printable(error)}`);
  return exitCodes.done;
}

/** What is left under a scope or name; nothing where the server cannot tell. */
export async function leftoversOf(api: Client, query: { scope: string; name?: string }): Promise<Leftover[]> {
  try {
    return (await api.call(listLeftovers, { query })).leftovers.filter(isRemovable);
  } catch (error) {
    // A server from before this was asked.
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

/** `what is left of shop/db: volume berth-shop-db-data-0, 2 config keys` */
export function leftoverText(leftover: Leftover): string {
  return `what is left of ${referenceOf(leftover)}: ${partsOf(leftover).join(", ")}`;
}

/** False where no prune removes what is left. */
export function isRemovable({ volumes, config_keys, folders }: Leftover): boolean {
  return volumes.length + config_keys + folders.length > 0;
}

function referenceOf({ scope, name }: Leftover): string {
  return name === "" ? `scope ${scope}` : `${scope}/${name}`;
}

function partsOf({ volumes, config_keys: keys, folders }: Leftover): string[] {
  return [
    ...volumes.map((volume) => `volume ${volume}`),
    ...(keys === 0 ? [] : [`${keys} config ${keys === 1 ? "key" : "keys"}`]),
    ...folders.map((folder) => `folder ${folder}`),
  ];
}

function tableOf(leftovers: readonly Leftover[], style: Style): string {
  const lines = leftovers.flatMap((leftover) => {
    const { scope, name, kinds, kept } = leftover;
    const gone = kinds.length === 0 ? "" : style.dim(` (${kinds.join(", ")})`);
    const remove = `berth delete ${name === "" ? scope : `${scope}/${name}`} --prune`;
    return [
      `${style.bold(printable(referenceOf(leftover)))}${gone}`,
      ...partsOf(leftover).map((part) => `  ${printable(part)}`),
      ...(isRemovable(leftover) ? [`  ${style.dim(`to remove: ${printable(remove)}`)}`] : []),
      ...kept.map((text) => `  no prune removes volume ${printable(text)}`),
    ];
  });
  return lines.join("\n");
}
