import type { PluginYml } from "../../api/plugins/plugin-yml.ts";
import { isReservedPrefix } from "../../api/plugins/reserved.ts";

/** The first segment below which the observability plane leads to a plugin; undefined where it has no routes. */
function routePrefix({ name, routes }: Pick<PluginYml, "name" | "routes">): string | undefined {
  return routes === undefined ? undefined : (routes.prefix ?? name);
}

/** Why a plugin cannot have the routes that it asks for beside these; undefined where it can. */
export function routesFault(
  yml: Pick<PluginYml, "name" | "routes">,
  present: readonly Pick<PluginYml, "name" | "routes">[],
): string | undefined {
  const prefix = routePrefix(yml);
  if (prefix === undefined) return undefined;
  if (isReservedPrefix(prefix)) return `routes.prefix: "${prefix}" is a path of the server itself; choose another one`;
  const other = present.find((each) => each.name !== yml.name && routePrefix(each) === prefix);
  return other === undefined ? undefined : `routes.prefix: "${prefix}" is taken by the plugin "${other.name}"`;
}
