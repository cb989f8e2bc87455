import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import { type CommandHandler, type Outcome, PluginError, usage } from "../kit.ts";
import { noMoreThan, parseArguments, referenceText, wholeNumber } from "./arguments.ts";
import type { Cluster } from "./cluster.ts";
import { loadServer, type ServerKind } from "./server.ts";

const addressPattern = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\])$/i;

/** `expose SCOPE/NAME`: a fixed port of the machine leads to the server, from other machines too. */
export function exposeCommand(kind: ServerKind, portOf: (cluster: Cluster) => string): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["port", "address"], switches: ["yes"] });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    const own = portOf(cluster);
    const port = wholeNumber(args.values.port, "port") ?? Number(own);
    const address = args.values.address ?? "0.0.0.0";
    if (port < 1 || port > 65_535) throw usage(`--port needs a port from 1 to 65535, not ${port}`);
    if (!addressPattern.test(address)) throw usage(`"${address}" is not an address of this machine`);
    if (cluster.replicas > 1) {
      throw new PluginError(
        `${referenceText(cluster.of)} has ${cluster.replicas} pods, and one port can lead to one of them only`,
      );
    }
    if (cluster.config[kind.exposeKey] === undefined) await requireDefaultPorts(cluster, own);
    const exposed = `${address}:${port}`;
    await requireFree(cluster, { address, port: `${exposed}:${own}` });
    return {
      message: `${referenceText(cluster.of)} is reached on ${exposed}, ${reachOf(address)}; the pod is recreated`,
      actions: [
        { type: "config_set", ...cluster.of, kv: { [kind.exposeKey]: exposed }, skip_restart: true },
        await withPorts(cluster, `${exposed}:${own}`),
      ],
    };
  };
}

/** `unexpose SCOPE/NAME`. */
export function unexposeCommand(kind: ServerKind, portOf: (cluster: Cluster) => string): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { switches: ["yes"] });
    noMoreThan(args.words, 1);
    const cluster = await loadServer(call, kind, args.words[0]);
    const where = cluster.config[kind.exposeKey];
    if (where === undefined) return { message: `${referenceText(cluster.of)} is not exposed` };
    return {
      message: `${referenceText(cluster.of)} is no longer reached on ${where}; the pod is recreated`,
      actions: [
        { type: "config_unset", ...cluster.of, keys: [kind.exposeKey], skip_restart: true },
        await withPorts(cluster, portOf(cluster)),
      ],
    };
  };
}

/** What a block writes is not overruled by a command. */
async function requireDefaultPorts({ controller, of }: Cluster, own: string): Promise<void> {
  const ports = (await controller.spec(of))?.ports;
  if (Array.isArray(ports) && ports.length === 1 && ports[0] === own) return;
  throw new PluginError(`the block of ${referenceText(of)} has ports of its own; change them there and apply it`);
}

function reachOf(address: string): string {
  return /^(127\.|\[::1\])/.test(address)
    ? "from this machine only"
    : "also from outside where no firewall is before it";
}

/** Before anything changes: the pod would be stopped for a port that it cannot have. */
async function requireFree({ controller, of }: Cluster, { address, port }: { address: string; port: string }) {
  const held = await controller.heldPorts(of, { ...(await controller.spec(of)), ports: [port] });
  if (held.length === 0) return;
  const why = held.map((note) => note.split("; ")[0]).join(", ");
  throw new PluginError(`${why}, so nothing was changed; choose another port of ${address} with --port N`);
}

/** `exposed: …` for `info`; nothing where no port leads to it. */
export function exposedLines({
  config,
  kind: { exposeKey },
}: {
  config: Cluster["config"];
  kind: ServerKind;
}): string[] {
  const where = config[exposeKey];
  return where === undefined ? [] : [`exposed: ${where}, ${reachOf(where)}`];
}

async function withPorts({ controller, of }: Cluster, port: string): Promise<Action> {
  const spec = { ...(await controller.spec(of)), ports: [port] };
  return {
    type: "apply_manifest",
    manifest: { kind: "statefulset", ...of, spec },
    summary: `statefulset/${referenceText(of)}: port ${port}`,
  };
}
