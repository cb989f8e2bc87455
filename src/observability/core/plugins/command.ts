import { Failure } from "../../../base/wire/failure.ts";
import type { PluginCommand } from "../../../orchestration/api/plugins/plugin-yml.ts";
import { type AppName, mayReach, reachesAll } from "../../../access/apps.ts";
import type { Grant } from "../tokens/grant.ts";

/** How a command is asked for: the GET for reading, the POST for changes, or the POST for what can hold secrets. */
export type Way = "read" | "change" | "reveal";

interface CommandAsk {
  block: AppName;
  command: PluginCommand;
  args: readonly string[];
  confirm?: string | undefined;
}

/** Whether some token can call a command at all. `expand` is for the server alone. */
export function isOffered({ name, access }: PluginCommand): boolean {
  return access !== "operator" && name !== "expand";
}

/** Fails `forbidden` or `invalid` for a command that this token may not call in this way. */
export function requireCallable(grant: Grant, way: Way, ask: CommandAsk): void {
  const { command, block, confirm } = ask;
  const { name, access, reads = false, reveals = false, destructive = false } = command;
  if (!isOffered(command)) throw new Failure("forbidden", `${name} is for operators: run it with berth on the server`);
  if (access === "server" && !reachesAll(grant)) {
    throw new Failure("forbidden", `${name} reaches beyond the block, and this token is limited to some apps`);
  }
  requireWay(name, way, { reads, reveals });
  if (!reads && !grant.scopes.includes("actions")) {
    throw new Failure("forbidden", "insufficient scope: requires actions");
  }
  const ref = `${block.scope}/${block.name}`;
  if (destructive && confirm !== ref) {
    throw new Failure("invalid", `${name} is destructive: repeat the block in the query, confirm=${ref}`);
  }
  requireReached(grant, ask);
}

function requireWay(name: string, way: Way, { reads, reveals }: { reads: boolean; reveals: boolean }): void {
  if (way === "reveal" || (reads ? way === "read" : way === "change" && !reveals)) {
    if (!reveals || way === "reveal") return;
  }
  if (reveals) {
    throw new Failure(
      "forbidden",
      `the answer of ${name} can hold secrets: use POST …/${name}/reveal with config:reveal`,
    );
  }
  throw new Failure("invalid", reads ? `${name} only reads: use GET` : `${name} can change something: use POST`);
}

/** A limited token names no other block or app to a plugin. */
function requireReached(grant: Grant, { args }: CommandAsk): void {
  if (reachesAll(grant)) return;
  for (const word of args.flatMap((arg) => [arg, arg.slice(arg.indexOf("=") + 1)])) {
    const [scope = "", name, ...more] = word.split("/");
    if (name === undefined || (more.length === 0 && mayReach(grant, { scope, name }))) continue;
    throw new Failure(
      "forbidden",
      `"${word.slice(0, 80)}" is out of reach of this token, which is limited to some apps`,
    );
  }
}
