import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Failure } from "../../base/wire/failure.ts";
import { layoutOf } from "../../base/disk/layout.ts";
import { makeFolders } from "../../base/disk/root.ts";
import { hasUser } from "../../base/machine/accounts.ts";
import { naming } from "../../orchestration/core/naming.ts";
import { type ServeOptions, serveOptions } from "../../config/config.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { checkText, examine } from "../doctor.ts";
import { ownExecutable, placeExecutable, versionOfExecutable } from "./executable.ts";
import { givenFlags, unitFlagsUsage, unitOptions } from "./flags.ts";
import { lastLines, unhealthy } from "./health.ts";
import { hasSystemd, type Machine, must, places, requireRoot, thisMachine } from "./machine.ts";
import { firewallHints, needEngine, needProxy, needRestic, offerLiveRestore } from "./packages.ts";
import { prefixLink } from "./prefix-link.ts";
import { installedVersion, refuseOlder, upgradeTo } from "./upgrade.ts";
import { flagOf, installedWords, withFlags, writeUnits } from "./systemd.ts";
import { sayNow } from "../../client/basics/output.ts";

export const installUsage = `berth server install

usage: berth server install [--executable FILE] [--live-restore] [--prefix-link]
         ${unitFlagsUsage}

Installs this executable as ${places.executable} and starts it as the service ${places.server};
HAProxy gets the service ${places.ingress}. Installs Docker, HAProxy and restic where they
are missing (Debian, Ubuntu). Needs root and systemd. Run it again to repair an installation or to
change flags: those that are not given stay.

  --executable FILE   install this one instead
  --live-restore      turn on Docker's live-restore without asking, if Docker has no settings yet
  --prefix-link       also make a link named after the prefix, for clients that call it so over ssh
  --root DIR          folder of all state (/opt/berth)
  other flags         as of berth serve`;

/** `berth server install`. */
export async function installCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      ...unitOptions,
      executable: { type: "string" },
      "live-restore": { type: "boolean" },
      "prefix-link": { type: "boolean" },
    },
  });
  requireRoot("berth server install");
  const machine = thisMachine;
  const installed = installedWords();
  const given = givenFlags(values);
  if (typeof given.root === "string") given.root = resolve(given.root);
  const defaults = { root: flagOf(installed ?? [], "root") ?? "/opt/berth" };
  const words = withFlags(installed ?? [], { ...defaults, ...given });
  const root = flagOf(words, "root") ?? defaults.root;
  const executable = values.executable === undefined ? ownExecutable() : resolve(values.executable);
  const options = optionsOf(words);
  requireSystemd(machine, root);
  checkRoot(installed, root);
  const version = await versionOfExecutable(machine, executable);
  // Before anything is changed: the name may be taken.
  if (values["prefix-link"] === true) prefixLink(places.executable, options.prefix).make();
  const isUpgrade = installed !== undefined && existsSync(places.executable);
  const from = isUpgrade ? await installedVersion(machine) : version;
  refuseOlder(version, from);
  await needEngine(machine);
  await offerLiveRestore(machine, values["live-restore"] === true);
  await needProxy(machine);
  await needRestic(machine);
  await needAccounts(machine, naming(options.prefix).operatorGroup);
  const layout = layoutOf(root);
  await makeFolders(layout);
  machine.say(`installing ${places.server} with berth ${version}`);
  await writeUnits(machine, words, root);
  await must(machine, ["systemctl", "enable", "--quiet", places.server]);
  // The same version again only repairs: there is nothing to go back to.
  if (from !== version) {
    await upgradeTo(machine, { root, executable, waitMs: serverLimits.healthyMs });
  } else {
    await start(machine, { executable, version, socket: layout.socket });
  }
  await welcome(machine, options);
  return 0;
}

interface Started {
  executable: string;
  version: string;
  socket: string;
}

async function start(machine: Machine, { executable, version, socket }: Started): Promise<void> {
  if (executable !== places.executable) await placeExecutable(executable, places.executable);
  await must(machine, ["systemctl", "restart", places.server]);
  const { healthyMs: waitMs } = serverLimits;
  const fault = await unhealthy(socket, { version, waitMs, engine: false, ingress: false });
  if (fault !== undefined) throw await notHealthy(machine, fault);
}

async function notHealthy(machine: Machine, fault: string): Promise<Failure> {
  const said = (await lastLines(machine, 5)).map((line) => `\n  ${line}`).join("");
  return new Failure("unavailable", `the server does not run well: ${fault}; see: journalctl -u berth${said}`);
}

function requireSystemd(machine: Machine, root: string): void {
  if (hasSystemd(machine)) return;
  throw new Failure(
    "unavailable",
    `no systemd on this machine; nothing was changed. Install Docker and HAProxy, and let your own service manager run:\n  ${places.executable} serve --root ${root}\nIt must leave HAProxy running when it stops the server, and must start the server again when it ends.`,
  );
}

/** Another root would be another, empty server in the place of this one. */
function checkRoot(installed: readonly string[] | undefined, root: string): void {
  const before = installed === undefined ? undefined : flagOf(installed, "root");
  if (before === undefined || before === root || !existsSync(layoutOf(before).database)) return;
  throw new Failure(
    "conflict",
    `the installed server has its state in ${before}: move that folder to ${root} and change the unit by hand, or uninstall it first`,
  );
}

/** The group of those who may use berth, without members, and the user of HAProxy's workers. */
async function needAccounts(machine: Machine, group: string): Promise<void> {
  if ((await machine.run(["getent", "group", group])).exitCode !== 0) {
    const made = await machine.run(["groupadd", "--system", group]);
    if (made.exitCode !== 0) machine.note(`cannot create the group ${group}: only root can use berth`);
  }
  if (!machine.has("haproxy") || (await hasUser("/etc", "haproxy"))) return;
  const shell = "/usr/sbin/nologin";
  const made = await machine.run(["useradd", "--system", "--no-create-home", "--shell", shell, "haproxy"]);
  if (made.exitCode !== 0) machine.note("cannot create the user haproxy: the workers of HAProxy run as root");
}

const optionNames = {
  ...{ root: "root", prefix: "prefix", dockerHost: "docker-host", addr: "addr", allowedHosts: "allowed-hosts" },
  ...{ observabilityAddr: "observability-addr", observabilityTls: "observability-tls", identityAddr: "identity-addr" },
  ...{ ingressHttpAddr: "ingress-http-addr", ingressHttpsAddr: "ingress-https-addr" },
} as const;

/** The settings of the server, as far as the unit says them. Fails `invalid` as the server would. */
function optionsOf(words: readonly string[]): ServeOptions {
  const flags = Object.entries(optionNames).flatMap(([key, name]) => {
    const value = flagOf(words, name);
    return value === undefined ? [] : [[key, value]];
  });
  const insecure = words.includes("--addr-insecure") ? { addrInsecure: "true" } : {};
  return serveOptions({ ...Object.fromEntries(flags), ...insecure });
}

async function welcome(machine: Machine, options: ServeOptions): Promise<void> {
  machine.say("berth is running; berth doctor reports:");
  for (const check of await examine(options)) {
    sayNow(checkText(check));
  }
  for (const hint of await firewallHints(machine)) machine.note(hint);
  machine.note("next: berth apply -f FILE, berth get, berth describe; logs: journalctl -u berth");
}
