import { ApiError } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { listManifests } from "../../../orchestration/api/apply.ts";
import { type DispatchResult, dispatchPlugin } from "../../../orchestration/api/dispatch.ts";
import { type ProgressLine, progressMediaType } from "../../../orchestration/api/plugins/protocol.ts";
import { listPlugins, type PluginInfo } from "../../../orchestration/api/plugins.ts";
import { coreKinds } from "../../../orchestration/api/manifest.ts";
import type { Operation } from "../../api/operations.ts";
import type { BlockView } from "../../api/plugins.ts";
import { blockView, type StoredBlock } from "../../core/plugins/block.ts";
import { requireCallable, type Way } from "../../core/plugins/command.ts";
import { mayReach, unseen } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { AppsRoom } from "../apps/create.ts";
import type { Platform } from "../platform.ts";
import type { PluginLimits } from "./limits.ts";

/** Who asks, on record as `actor`. */
interface By {
  grant: Grant;
  actor: string;
}

/** A command of a block as it was asked for; `args` follow SCOPE/NAME. */
export interface BlockAsk {
  target: { kind: string; scope: string; name: string };
  command: string;
  args: readonly string[];
  confirm?: string | undefined;
}

/**
 * Blocks of plugins, such as databases. A block that a token may not reach does not exist for it. Each call fails
 * `not_found` for a block or a command that is not there, and `forbidden` for a command that the token may not call.
 */
export interface Blocks {
  list(grant: Grant): Promise<BlockView[]>;
  /** Runs a command that changes nothing. */
  read(by: By, ask: BlockAsk, signal: AbortSignal): Promise<DispatchResult>;
  change(by: By, ask: BlockAsk): Promise<Operation>;
  /** Runs a command whose answer can hold secrets; nothing keeps the answer. */
  reveal(by: By, ask: BlockAsk, signal: AbortSignal): Promise<DispatchResult>;
}

export function createBlocks({
  platform,
  apps,
  limits,
}: {
  platform: Platform;
  apps: Pick<AppsRoom, "model" | "operations">;
  limits: PluginLimits;
}): Blocks {
  const client = platform.as("observability");

  async function stored(grant: Grant): Promise<StoredBlock[]> {
    const manifests = await client.call(listManifests, { query: { blocks: true, status: true } });
    return manifests
      .filter(({ kind }) => !coreKinds.some((core) => core === kind))
      .map(({ scope = "", ...block }): StoredBlock => ({ scope, ...block }))
      .filter((block) => mayReach(grant, block));
  }

  async function callable({ grant }: By, way: Way, { target, command: word, args, confirm }: BlockAsk) {
    const blocks = await stored(grant);
    const { kind, scope, name } = target;
    const { plugins } = await client.call(listPlugins);
    // A block has one kind on record, and a plugin may know it by several words: pg is postgres.
    const block = blocks.find((each) => {
      const words = [each.kind, ...(pluginOf(plugins, each)?.kinds ?? [])];
      return each.scope === scope && each.name === name && words.includes(kind);
    });
    if (block === undefined) {
      throw unseen(`${kind}/${scope}/${name}`);
    }
    const plugin = pluginOf(plugins, block);
    const command = plugin?.commands.find((each) => each.name === word);
    if (plugin === undefined || command === undefined) {
      throw new Failure("not_found", `no command "${word}" on ${kind}/${scope}/${name}; GET /databases lists them`);
    }
    requireCallable(grant, way, { block, command, args, confirm });
    return { params: { name: plugin.name, command: word }, body: { args: [`${scope}/${name}`, ...args] }, block };
  }

  const answered = async (by: By, way: Way, { ask, signal }: { ask: BlockAsk; signal: AbortSignal }) => {
    const { params, body } = await callable(by, way, ask);
    return platform.as(by.actor, by.grant).call(dispatchPlugin, { params, body, signal });
  };

  return {
    async list(grant) {
      await apps.model.fresh();
      const [blocks, { plugins }] = await Promise.all([stored(grant), client.call(listPlugins)]);
      const known = apps.model.list().map(({ app }) => app);
      return blocks.map((block) => blockView(block, { plugin: pluginOf(plugins, block), apps: known }));
    },
    read: (by, ask, signal) => answered(by, "read", { ask, signal }),
    reveal: (by, ask, signal) => answered(by, "reveal", { ask, signal }),
    async change(by, ask) {
      const { params, body, block } = await callable(by, "change", ask);
      const what = { type: `${params.name}:${params.command}`, app: block, actor: by.actor };
      return apps.operations.attend(what, async (say) => {
        const headers = { Accept: progressMediaType };
        const answer = await platform.as(by.actor, by.grant).raw(dispatchPlugin, { params, body, headers });
        const { message, run_id } = await lastOf(answer, say);
        const [line = ""] = message.split("\n");
        return { text: line || "done", output: message.slice(0, limits.outputCharactersMax), run_id };
      });
    },
  };
}

/** By the name on record. A plugin that came in the place of the one that made the block does not serve it. */
function pluginOf(plugins: readonly PluginInfo[], { status }: StoredBlock): PluginInfo | undefined {
  if (status?.stranded !== undefined) return undefined;
  return plugins.find(({ name }) => name === status?.plugin);
}

/** The result behind the lines of progress. Fails with `ApiError`. */
async function lastOf(answer: Response, say: (text: string) => void): Promise<DispatchResult> {
  const decoder = new TextDecoder();
  let rest = "";
  const take = (line: string): DispatchResult | undefined => {
    if (line.trim() === "") return undefined;
    const told = JSON.parse(line) as ProgressLine | { status: string; error?: string };
    if (!("type" in told)) throw new ApiError(answer.status, told.error ?? "the plugin gave no answer");
    if (told.type === "progress") say(told.text);
    else if (told.status === "ok") return told.data as DispatchResult;
    else throw new ApiError(told.code, told.error ?? "the plugin gave no reason");
    return undefined;
  };
  for await (const chunk of answer.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const result = take(line);
      if (result !== undefined) return result;
    }
  }
  const result = take(rest);
  if (result === undefined) throw new Failure("unavailable", "the command was ended: the server is stopping");
  return result;
}
