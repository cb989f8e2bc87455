import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { pidWith } from "../../base/machine/pid-file.ts";
import { parseArgs } from "node:util";
import { layoutOf } from "../../base/disk/layout.ts";
import { Failure } from "../../base/wire/failure.ts";
import { naming } from "../../orchestration/core/naming.ts";
import { closedIn, routeCommand } from "../stray-routes.ts";
import { confirm } from "./confirm.ts";
import { hasSystemd, type Machine, must, places, requireRoot, thisMachine } from "./machine.ts";
import { prefixLink } from "./prefix-link.ts";
import { flagOf, installedWords, unitFiles } from "./systemd.ts";

export const uninstallUsage = `berth server uninstall

usage: berth server uninstall [--purge] [-y]

Stops the server and HAProxy, and removes their services and the executable. The state, the
containers and their volumes stay: the containers keep running, and berth server install takes
them up again. Needs root.

  --purge    also delete the containers, the volumes with their data, the network, and all state
  -y, --yes  do not ask`;

/** `berth server uninstall`. */
export async function uninstallCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { purge: { type: "boolean" }, yes: { type: "boolean", short: "y" } },
  });
  requireRoot("berth server uninstall");
  const machine = thisMachine;
  const words = installedWords();
  if (words === undefined || !hasSystemd(machine)) {
    throw new Failure("not_found", `no ${places.server} of berth on this machine; nothing was changed`);
  }
  const root = flagOf(words, "root") ?? "/opt/berth";
  const found = values.purge === true ? await findLeftovers(machine, words) : undefined;
  confirm(machine, question(root, found), values.yes === true);
  machine.say("stopping the server and HAProxy");
  await must(machine, ["systemctl", "disable", "--now", "--quiet", places.server]);
  await stopProxy(machine, root);
  prefixLink(places.executable, flagOf(words, "prefix") ?? "berth").remove();
  for (const file of [...unitFiles, places.executable]) await rm(file, { force: true });
  await must(machine, ["systemctl", "daemon-reload"]);
  // While there is no server, nothing connects to containers on behalf of visitors.
  for (const { subnet } of closedIn(layoutOf(root).subnets)) await machine.run(routeCommand("del", subnet));
  if (found !== undefined) await purge(machine, root, found);
  machine.say("berth is uninstalled");
  if (found === undefined) machine.note(`its state is still in ${root}, and its containers still run`);
  return 0;
}

interface Leftovers {
  docker: readonly string[];
  group: string;
  containers: string[];
  volumes: string[];
  networks: string[];
}

async function findLeftovers(machine: Machine, words: readonly string[]): Promise<Leftovers> {
  const host = flagOf(words, "docker-host");
  const docker = ["docker", ...(host === undefined ? [] : ["-H", host])];
  const { network, operatorGroup: group } = naming(flagOf(words, "prefix") ?? "berth");
  const mine = ["-q", "--filter", `label=createdby=${flagOf(words, "prefix") ?? "berth"}`];
  const list = async (...command: string[]) =>
    (await must(machine, [...docker, ...command])).split("\n").filter(Boolean);
  return {
    docker,
    group,
    containers: await list("ps", "-a", ...mine),
    volumes: await list("volume", "ls", ...mine),
    networks: await list("network", "ls", "-q", "--filter", `name=^${network}$`),
  };
}

function question(root: string, found: Leftovers | undefined): string {
  if (found === undefined) return "stop the server and remove it? Its state, containers and volumes stay.";
  const { containers, volumes } = found;
  return `delete ${containers.length} containers, ${volumes.length} volumes with their data, and all state in ${root}?`;
}

/** Also a HAProxy that the server has started itself, before it had a service. */
async function stopProxy(machine: Machine, root: string): Promise<void> {
  await machine.run(["systemctl", "stop", places.ingress]);
  const { ingressPid, ingress } = layoutOf(root);
  const pid = pidWith(ingressPid, [`${ingress}/haproxy.cfg`]);
  if (pid !== undefined) process.kill(pid, "SIGTERM");
}

async function purge(machine: Machine, root: string, found: Leftovers): Promise<void> {
  const { docker, group, containers, volumes, networks } = found;
  machine.say(`deleting ${containers.length} containers, ${volumes.length} volumes and ${root}`);
  if (containers.length > 0) await must(machine, [...docker, "rm", "-f", ...containers]);
  if (volumes.length > 0) await must(machine, [...docker, "volume", "rm", ...volumes]);
  if (networks.length > 0) await must(machine, [...docker, "network", "rm", ...networks]);
  // Only a folder that is ours: a wrong word in the unit must not delete anything else.
  if (existsSync(layoutOf(root).database)) await rm(root, { recursive: true, force: true });
  await machine.run(["groupdel", group]);
}
