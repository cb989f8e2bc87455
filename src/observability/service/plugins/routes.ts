import { Failure } from "../../../base/wire/failure.ts";
import { listManifests } from "../../../orchestration/api/apply.ts";
import type { PodEndpoint } from "../../../orchestration/api/pod-endpoint.ts";
import { listPlugins, type PluginInfo } from "../../../orchestration/api/plugins.ts";
import { type AppName, mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { Platform } from "../platform.ts";
import type { RouteOutside } from "./route-outside.ts";

/** The routes that plugins have of their own. */
export interface PluginRoutes {
  /**
   * `http://address:port` of a ready container of a block of the plugin with this prefix; undefined where no plugin has it.
   * Fails `not_found` for what is not a block of that plugin or out of reach, `unavailable` where no container answers.
   */
  origin(grant: Grant, prefix: string, at: AppName): Promise<string | undefined>;
  forward: RouteOutside["fetch"];
}

export function createPluginRoutes({ platform }: { platform: Platform }): PluginRoutes {
  const client = platform.as("observability");

  /** Whether something of this name came from a block that the plugin serves. */
  function isOwn({ kinds }: PluginInfo, { kind, scope, name }: PodEndpoint): boolean {
    const block = platform.apps.of({ kind, scope, name })?.block;
    return block !== undefined && kinds.includes(block.split("/", 1)[0] ?? "");
  }

  /** Whether another plugin made the block of a container, and this one came in its place. */
  async function isStranded(pod: PodEndpoint): Promise<boolean> {
    const block = platform.apps.of(pod)?.block;
    if (block === undefined) return true;
    const [kind, scope, name] = block.split("/");
    const [stored] = await client.call(listManifests, { query: { kind, scope, name, status: true } });
    return stored === undefined || stored.status?.stranded !== undefined;
  }

  async function portOf(
    { routes }: PluginInfo,
    { kind, scope, name, ports }: PodEndpoint,
  ): Promise<number | undefined> {
    if (routes?.port_env !== undefined) {
      const [manifest] = await client.call(listManifests, { query: { kind, scope, name } });
      const { env } = (manifest?.spec ?? {}) as { env?: Record<string, unknown> };
      const [, port] = /(?:^|:)(\d{1,5})$/.exec(String(env?.[routes.port_env] ?? "")) ?? [];
      if (port !== undefined) return Number(port);
    }
    return routes?.port ?? ports[0];
  }

  return {
    async origin(grant, prefix, at) {
      const { plugins } = await client.call(listPlugins);
      const plugin = plugins.find(
        ({ name, routes, enabled }) => enabled && routes && (routes.prefix ?? name) === prefix,
      );
      if (plugin === undefined) return undefined;
      const ref = `${at.scope}/${at.name}`;
      const missing = `"${plugin.name}" has no block ${ref}, or this token may not see it`;
      if (!mayReach(grant, at)) throw new Failure("not_found", missing);
      const all = platform.routes?.endpoints() ?? [];
      const own = all.filter((pod) => pod.scope === at.scope && pod.name === at.name && isOwn(plugin, pod));
      if (own.length === 0 && !isStored(platform, plugin, at)) throw new Failure("not_found", missing);
      const pod = own.find(({ ready, ip }) => ready && ip !== undefined);
      if (pod?.ip === undefined) throw new Failure("unavailable", `no replica of ${ref} is ready`);
      if (await isStranded(pod)) throw new Failure("not_found", missing);
      // On the network of the machine a port can be of anything.
      if (pod.ip === "127.0.0.1" || pod.ip === "::1") {
        throw new Failure("unavailable", `${ref} uses the network of the machine, which plugins' routes do not reach`);
      }
      const port = await portOf(plugin, pod);
      if (port === undefined) throw new Failure("unavailable", `neither "${plugin.name}" nor ${ref} names a port`);
      return `http://${pod.ip.includes(":") ? `[${pod.ip}]` : pod.ip}:${port}`;
    },
    forward(url, init) {
      if (platform.routes === undefined) throw new Failure("unavailable", "this server leads to no containers");
      return platform.routes.fetch(url, init);
    },
  };
}

/** One that has no replica just now. */
function isStored({ apps }: Platform, { kinds }: PluginInfo, { scope, name }: AppName): boolean {
  return ["deployment", "statefulset"].some((kind) => {
    const block = apps.of({ kind, scope, name })?.block;
    return block !== undefined && kinds.includes(block.split("/", 1)[0] ?? "");
  });
}
