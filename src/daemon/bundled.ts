import { parsePluginYml } from "../orchestration/plugins/yaml.ts";

interface WithYml {
  name: string;
  /** Text of its plugin.yml. */
  yml: string;
}

/** The plugin.yml of each bundled plugin, parsed, by the plugin's name. In the executable the values are made by `build.ts`. */
export function parsedYmls(plugins: readonly WithYml[]): Record<string, ReturnType<typeof parsePluginYml>> {
  return Object.fromEntries(plugins.map(({ name, yml }) => [name, parsePluginYml(yml)]));
}
