import {
  holderOf,
  holderText,
  type Listening,
  listening,
  onlyFor,
  type PortHolder as PortHolderProcess,
} from "../../../base/machine/port-holder.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { portsClash } from "../../core/ports.ts";
import type { PortBinding } from "../../core/workload.ts";
import type { PortHolder } from "../machine.ts";
import type { DockerClient } from "./client.ts";
import { portIn } from "./errors.ts";

/** A `PortTaken` failure with the name of who holds the port, where that can be seen; any other error as it is. */
export async function withPortHolder(engine: DockerClient, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure) || error.reason !== "PortTaken") return error;
  const port = portIn(error.message);
  if (port === undefined) return error;
  const [found] = (await published(engine).catch(() => [])).filter(({ binding }) => binding.hostPort === port);
  const text = found?.holder ?? (engine.local ? await processHolding(port) : undefined);
  if (text === undefined) return error;
  return new Failure(error.code, `${error.message} (host port ${port} is held by ${text})`, {
    reason: error.reason,
    cause: error.cause,
  });
}

/** See `Engine`. Programs are looked for only where no container publishes the port: its proxy listens, too. */
export async function portHolders(engine: DockerClient, bindings: readonly PortBinding[]): Promise<PortHolder[]> {
  if (bindings.length === 0) return [];
  const containers = await published(engine);
  const sockets = engine.local ? await listening() : [];
  const found: PortHolder[] = [];
  for (const binding of bindings) {
    const publishing = containers.filter((other) => portsClash(binding, other.binding));
    const byId = new Map(publishing.map(({ container, holder }) => [container, { binding, holder, container }]));
    found.push(...byId.values());
    if (byId.size > 0) continue;
    const clashing = sockets.filter((other) => portsClash(binding, bindingOf(other)));
    const held = await onlyFor(binding.hostIp, clashing, sockets);
    if (held.length === 0) continue;
    found.push({ binding, holder: textOf(await holderOf(held)) ?? "another program", container: undefined });
  }
  return found;
}

interface Published {
  container: string;
  holder: string;
  binding: PortBinding;
}

/** The host ports of every running container, ours or not. */
async function published(engine: DockerClient): Promise<Published[]> {
  const rows = await engine.call({ verb: "list", subject: "containers" }, (docker, abortSignal) =>
    docker.listContainers({ abortSignal }),
  );
  return rows.flatMap(({ Id, Names, Ports }) =>
    (Ports ?? []).flatMap(({ IP, PublicPort, PrivatePort, Type }): Published[] => {
      const protocol = protocols.find((known) => known === Type);
      if (!PublicPort || protocol === undefined) return [];
      const holder = `container "${Names[0]?.replace(/^\//, "") ?? Id}"`;
      const binding = { hostIp: IP || "0.0.0.0", hostPort: PublicPort, containerPort: PrivatePort, protocol };
      return [{ container: Id, holder, binding }];
    }),
  );
}

const protocols = ["tcp", "udp", "sctp"] as const;

/** `process 812 (postgres)` when /proc shows who listens on a TCP port of this machine. */
export async function processHolding(port: number): Promise<string | undefined> {
  const sockets = await listening();
  return textOf(await holderOf(sockets.filter((one) => one.port === port && one.protocol === "tcp")));
}

const textOf = (holder: PortHolderProcess | undefined) => (holder === undefined ? undefined : holderText(holder));

function bindingOf({ ip, port, protocol }: Listening): PortBinding {
  return { hostIp: ip, hostPort: port, containerPort: port, protocol };
}
