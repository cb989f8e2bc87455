import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { clientOptions, limits, type ServeFlags, type ServeOptions, serveOptions } from "../config/config.ts";
import { naming } from "../orchestration/core/naming.ts";
import { holdPlugins } from "../daemon/plugins.ts";
import { isReadOnly } from "../base/disk/disk-space.ts";
import { type Layout, layoutOf } from "../base/disk/layout.ts";
import { readOperators } from "../base/machine/accounts.ts";
import { tablesError } from "../base/machine/peers.ts";
import { versionText } from "../version.ts";
import { type AccessFacts, checkAccess } from "./check-access.ts";
import { checkStrays, strayFacts } from "./stray-routes.ts";
import { checkNames, namesFacts } from "./check-names.ts";
import { askTargets, checkBackups } from "./check-backups.ts";
import { checkIngress, checkPlane } from "./check-ingress.ts";
import { findBinary } from "../ingress/proxy/binary.ts";
import * as checks from "./checks.ts";
import { examineForwarding } from "./forwarding.ts";
import { askDocker, askIngress, askServer, askSettings, clockFacts, isBerth, isListening } from "./probe.ts";
import { complainNow, OutputFailure, sayNow } from "../client/basics/output.ts";
import { wrongLine } from "../client/basics/failures.ts";

const usage = `usage: berth doctor [--root DIR] [--addr A] [--addr-insecure] [--observability-addr A]
                    [--observability-tls HOW] [--identity-addr A] [--identity-base-url U]
                    [--ingress-http-addr A] [--ingress-https-addr A] [--ingress-image I]
                    [--docker-host H] [-o json]
Looks at this machine the way berth serve needs it, and says how to fix what is wrong. Where a
server runs, its own settings count; a flag outweighs them.`;

/**
 * `berth doctor`: prints one line per check, or with `-o json` the envelope `{status, data: {checks}}`. Answers with
 * the exit code: 0 when nothing failed (warnings included), 1 when something did, 2 for a wrong command line.
 */
export async function doctorCommand(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (typeof command === "number") return command;
  const found = await examine(await optionsFor(command.flags));
  if (command.json) sayNow(JSON.stringify({ status: "ok", data: { checks: found } }));
  else for (const check of found) sayNow(checkText(check));
  return found.some(({ status }) => status === "fail") ? 1 : 0;
}

/** What the running server uses, except where a flag says otherwise; without a server, what it would use from here. */
async function optionsFor(flags: ServeFlags): Promise<ServeOptions> {
  const own = serveOptions(flags);
  const endpoint = flags.root === undefined ? clientOptions({}, false).named.endpoint : undefined;
  const named = /^unix:(?:\/\/)?(\/.+)$/.exec(endpoint ?? "")?.[1];
  const byEndpoint = named === undefined ? undefined : await askSettings(named);
  const served = byEndpoint ?? (await askSettings(layoutOf(own.root).socket));
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
  return serveOptions({ ...served, ...given });
}

/** All checks in the order in which they are best fixed. */
export async function examine(options: ServeOptions): Promise<checks.Check[]> {
  const docker = await askDocker(options.dockerHost);
  const layout = layoutOf(options.root);
  const server = await askServer(layout.socket);
  const root = rootFacts(layout);
  return [
    checks.checkDocker(options.dockerHost, docker),
    ...(docker instanceof Error
      ? []
      : [
          checks.checkLiveRestore(docker),
          checks.checkInit(docker),
          checks.checkCgroups(docker),
          checks.checkForwarding(await forwardingFacts(options)),
          checkStrays(await strayFacts(options.dockerHost, naming(options.prefix).network)),
        ]),
    checkNames(await namesFacts(layout, options.dockerHost)),
    ...spaceChecks(options.root, docker),
    checks.checkRoot(root),
    checks.checkKey(root),
    checks.checkPlugins(pluginLacks(options, layout)),
    ...(await addressChecks(options, server !== undefined)),
    checkAccess(await accessFacts(options, layout)),
    checkIngress({
      isOn: options.ingressHttpAddr !== "" || options.ingressHttpsAddr !== "",
      binary: await findBinary(),
      image: options.ingressImage,
      proxy: server === undefined ? undefined : await askIngress(layout.socket),
    }),
    checkPlane(options),
    checks.checkIdentity(identityFacts(options, layout)),
    checks.checkClock(clockFacts(layout.database)),
    checkBackups(await askTargets(layout.socket)),
    checks.checkServer(server, versionText()),
  ];
}

/** Nothing is there to hold on a machine where nothing was served yet. */
function pluginLacks(options: ServeOptions, layout: Layout): readonly string[] {
  if (!existsSync(layout.plugins)) return [];
  const { lacks, confinement } = holdPlugins({ layout, names: naming(options.prefix), owner: "" });
  return [...lacks, ...confinement.lacksBundled];
}

/** A fix is on a line of its own, below the problem. */
export function checkText({ name, status, detail, mend }: checks.Check): string {
  const line = `${status.padEnd(4)}  ${name.padEnd(22)}  ${detail}`;
  return mend === undefined ? line : `${line}\n      ${" ".repeat(22)}  to fix: ${mend}`;
}

function readCommand(args: string[]): { flags: ServeFlags; json: boolean } | number {
  const string = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      args,
      options: {
        root: string,
        addr: string,
        "addr-insecure": { type: "boolean" },
        "observability-addr": string,
        "observability-tls": string,
        "identity-addr": string,
        "identity-base-url": string,
        "ingress-http-addr": string,
        "ingress-https-addr": string,
        "ingress-image": string,
        "docker-host": string,
        output: { type: "string", short: "o" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) {
      sayNow(usage);
      return 0;
    }
    if (values.output !== undefined && values.output !== "json" && values.output !== "text") {
      throw new Error(`unknown output "${values.output}": use json or text`);
    }
    const flags = {
      root: values.root,
      addr: values.addr,
      addrInsecure: values["addr-insecure"] === true ? "true" : undefined,
      observabilityAddr: values["observability-addr"],
      observabilityTls: values["observability-tls"],
      identityAddr: values["identity-addr"],
      identityBaseUrl: values["identity-base-url"],
      ingressHttpAddr: values["ingress-http-addr"],
      ingressHttpsAddr: values["ingress-https-addr"],
      ingressImage: values["ingress-image"],
      dockerHost: values["docker-host"],
    };
    // A wrong value is a wrong command line.
    serveOptions(flags);
    return { flags, json: values.output === "json" };
  } catch (error) {
    if (error instanceof OutputFailure) throw error;
    complainNow(`error: ${wrongLine(error) ?? (error instanceof Error ? error.message : String(error))}\n${usage}`);
    return 2;
  }
}

function forwardingFacts({ dockerHost, prefix }: ServeOptions): Promise<checks.ForwardingFacts> {
  return examineForwarding(dockerHost, naming(prefix).network).catch((error) => ({
    state: "untested",
    detail: `not tested: ${error instanceof Error ? error.message : error}`,
  }));
}

function spaceChecks(root: string, docker: checks.DockerFacts | Error): checks.Check[] {
  const places = new Map([["disk of berth", root]]);
  if (!(docker instanceof Error) && existsSync(docker.rootDir)) places.set("disk of docker", docker.rootDir);
  return [...places].map(([name, path]) => {
    const there = nearestExisting(path);
    const { bavail, bsize, blocks } = statfsSync(there);
    const space = {
      path,
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      readOnly: path === root && isReadOnly(there),
    };
    return checks.checkSpace(name, space, limits.diskFloorBytes);
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}

function rootFacts({ root, key: keyPath, database }: Layout): checks.RootFacts {
  const folder = statSync(root, { throwIfNoEntry: false });
  return {
    root,
    rootMode: folder?.mode,
    rootUid: folder?.uid,
    uid: process.getuid?.() ?? 0,
    keyPath,
    keyMode: statSync(keyPath, { throwIfNoEntry: false })?.mode,
    databaseExists: existsSync(database),
  };
}

async function addressChecks(options: ServeOptions, serverRuns: boolean): Promise<checks.Check[]> {
  const planes: [string, string][] = [
    ["orchestration", options.addr],
    ["observability", options.observabilityAddr],
    ["identity", options.identityAddr],
  ];
  return Promise.all(
    planes.map(async ([plane, address]) =>
      checks.checkAddress(plane, address, await addressState(address, serverRuns)),
    ),
  );
}

async function addressState(address: string, serverRuns: boolean): Promise<checks.AddressState> {
  if (address === "") return "off";
  if (!(await isListening(address))) return "free";
  if (serverRuns) return "ours";
  return (await isBerth(address)) ? "berth" : "taken";
}

async function accessFacts({ addr, addrInsecure, prefix }: ServeOptions, { socket }: Layout): Promise<AccessFacts> {
  const { accounts, group } = await readOperators("/etc", naming(prefix).operatorGroup);
  const file = statSync(socket, { throwIfNoEntry: false });
  return {
    addr,
    insecure: addrInsecure,
    socket,
    socketMode: file?.mode,
    socketGid: file?.gid,
    group,
    members: accounts.filter(({ uid }) => group.members.has(uid)).map(({ name }) => name),
    tablesError: await tablesError(),
  };
}

function identityFacts(
  { identityAddr, identityBaseUrl }: ServeOptions,
  { identityDatabase: path, identityIndex }: Layout,
): checks.IdentityFacts {
  const database = { path, mode: statSync(path, { throwIfNoEntry: false })?.mode };
  const index = existsSync(identityIndex) ? identityIndex : undefined;
  return { address: identityAddr, baseUrl: identityBaseUrl, database, index };
}
