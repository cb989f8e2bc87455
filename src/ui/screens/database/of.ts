import { askDatabase, type BlockView, commandDatabase } from "../../../observability/api/plugins.ts";
import { api } from "../../data/api.ts";
import { operations } from "../../data/model.ts";
import { follow } from "../../data/operations.ts";
import { lacks } from "../../data/session.ts";

/** A block as an address names it. */
export interface BlockName {
  kind: string;
  scope: string;
  name: string;
}

export function databasePath({ kind, scope, name }: BlockName): string {
  return `/databases/${[kind, scope, name].map(encodeURIComponent).join("/")}`;
}

export const named = ({ scope, name }: BlockName) => `${scope}/${name}`;

/** The word before a command on the command line. */
export const commandOf = (block: BlockView, words: string) => {
  const [command = "", ...rest] = words.split(" ");
  return [`berth ${block.plugin}:${command}`, named(block), ...rest].join(" ");
};

/** Whether the plugin has a command that this page offers. */
export function has({ commands }: BlockView, command: string): boolean {
  return commands.some(({ name }) => name === command);
}

/** Why a command cannot be pressed, or nothing where it can. */
export function missing(block: BlockView, command: string): string | undefined {
  return has(block, command) ? lacks("actions") : `The plugin ${block.plugin} has no command ${command}`;
}

/** What a reading command says. */
export async function read({ kind, scope, name }: BlockName, command: string, signal: AbortSignal): Promise<string> {
  const params = { kind, scope, name, command };
  return (await api.call(askDatabase, { params, query: { args: "-o json" }, signal })).message;
}

/** Begins a command; the operation reports how it ends. */
export async function begin(block: BlockView, command: string, args: readonly string[] = []): Promise<void> {
  const { kind, scope, name } = block;
  const params = { kind, scope, name, command };
  const isDestructive = block.commands.some((each) => each.name === command && each.destructive);
  const query = isDestructive ? { confirm: named(block) } : {};
  follow(await api.call(commandDatabase, { params, query, body: { args } }));
}

/** Another text whenever something that was begun on the block has moved on. */
export function movesOf(block: BlockName): string {
  return [...operations.value.values()]
    .filter(({ app }) => app.kind === block.kind && app.scope === block.scope && app.name === block.name)
    .map(({ id, state }) => `${id} ${state}`)
    .join();
}
