import { processWorld, runPlugin, type PluginHandlers } from "./kit.ts";
import type { PluginInfo } from "../src/orchestration/api/plugins.ts";
import postgresYml from "./postgres/plugin.yml" with { type: "text" };
import postgresSchema from "./postgres/schema.json";
import redisYml from "./redis/plugin.yml" with { type: "text" };
import redisSchema from "./redis/schema.json";

/** A plugin that is part of the executable, which runs it as `<executable> plugin <name> <command> <argument>…`. */
export interface Bundled {
  name: string;
  /** Text of its plugin.yml. */
  yml: string;
  /** JSON Schema of its blocks, by kind. */
  schemas: Readonly<Record<string, object>>;
  load: () => Promise<PluginHandlers>;
}

/** Loaded when they run: the server lists them and needs none of their code. */
export const bundledPlugins: readonly Bundled[] = [
  {
    name: "postgres",
    yml: postgresYml,
    schemas: { postgres: postgresSchema, pg: postgresSchema },
    load: async () => (await import("./postgres/main.ts")).postgres,
  },
  {
    name: "redis",
    yml: redisYml,
    schemas: { redis: redisSchema },
    load: async () => (await import("./redis/main.ts")).redis,
  },
];

/** `plugin <name> <command> <argument>…`: answers with the exit code. */
export async function runBundled([name = "", ...argv]: readonly string[]): Promise<number> {
  const plugin = bundledPlugins.find((each) => each.name === name);
  if (plugin === undefined) {
    const known = bundledPlugins.map((each) => each.name).join(", ");
    process.stderr.write(`no plugin "${name}" is part of this executable; there are: ${known}\n`);
    return 2;
  }
  const handlers = await plugin.load();
  return runPlugin({ ...handlers, help: () => helpOf(plugin.yml) }, processWorld(argv));
}

type Declared = Pick<PluginInfo, "name" | "description" | "aliases" | "kinds" | "commands">;

/** What the plugins of this executable declare, for help where no server can be asked. */
export function declaredPlugins(): Declared[] {
  return bundledPlugins.map(({ yml }) => declaredIn(yml));
}

function declaredIn(yml: string): Declared {
  return { aliases: [], ...(Bun.YAML.parse(yml) as Partial<Declared> & Omit<Declared, "aliases">) };
}

/** What `-h` says of each command: how a person types it and what it does, as the client's own help has it. */
function helpOf(yml: string): Readonly<Record<string, string>> {
  const { name: plugin, aliases, commands } = declaredIn(yml);
  const typed = aliases[0] ?? plugin;
  return Object.fromEntries(
    commands.map(({ name, usage = "", help = "" }) => [name, `${`${typed}:${name} ${usage}`.trim()}\n\n${help}`]),
  );
}
