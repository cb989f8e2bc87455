import { why } from "../../orchestration/api/why.ts";
import type { Context } from "../shell/command.ts";
import { isPodKind } from "../facts/look.ts";
import { printable } from "../basics/style.ts";

const linesMax = 10;

/**
 * What a replica that does not come up printed last: of one that its probe keeps from being ready, else of the last one
 * that died. Nothing where the server cannot tell.
 */
export async function lastWords({ api, terminal }: Context, ref: string): Promise<string[]> {
  const [kind = "", scope = "", name = ""] = ref.split("/");
  if (!isPodKind(kind)) return [];
  const told = await api.call(why, { query: { kind, scope, name } }).catch(() => undefined);
  const [unready] = told?.unready ?? [];
  const { replica_id: replica, logs = [] } = unready ?? told?.death ?? {};
  if (logs.length === 0) return [];
  const dim = terminal.noteStyle.dim;
  return [dim(`  last lines of replica ${replica}`), ...logs.slice(-linesMax).map((line) => `    ${printable(line)}`)];
}
