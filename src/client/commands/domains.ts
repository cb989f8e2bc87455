import { hostKey, hostOk, hostsOf, isLocalHost } from "../../base/pure/hosts.ts";
import { apply, type ListedManifest, listManifests } from "../../orchestration/api/apply.ts";
import { checkHost, type HostCheck, isPublic, nextText, recordText, statusText } from "../domains/dns.ts";
import { withHost, withoutHost } from "../domains/hosts.ts";
import type { Arguments } from "../basics/arguments.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { requireNamed } from "../shell/named.ts";
import { refOf, parseReference, resourceReference } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { optionalWord, verbOf } from "../shell/words.ts";
import { tableText } from "../basics/table-text.ts";
import { isPodKind } from "../facts/look.ts";
import { tableSetup } from "./get.ts";
import { rowsOf, whenListing } from "../shell/listing.ts";

const actions = { list, check: list, add, remove };

export const domainsCommand: CommandBody = {
  usage: [
    "domains list | check [SCOPE[/NAME]] [--address IP]…",
    "domains add SCOPE/NAME HOST",
    "domains remove SCOPE/NAME HOST [-y]",
  ],
  examples: [
    "domains list shop/web  its domains, and whether each leads to the server",
    "domains add shop/web www.example.com  serve one more domain, with a certificate",
  ],
  detail: [
    "Shows the DNS record that each domain needs, and what the name resolves to from here. add and remove",
    "change the stored ingress and nothing else: write the host into the manifest too, or the next apply",
    "of it takes the change back. An app without an ingress gets one, with https. The address of the",
    "server is that of the remote, or of this machine; behind NAT, give its public one with --address.",
  ],
  flags: [
    { name: "address", value: "IP", repeat: true, summary: "public address of the server, where it is not found" },
    yesFlag,
  ],
  lists: whenListing("list", rowsOf("domains", "host"), { byDefault: true }),
  async run(context, args) {
    const { action, words } = verbOf(actions, "domains", args);
    return action({ context, args, words });
  },
};

interface Call {
  context: Context;
  args: Arguments;
  /** After the verb. */
  words: readonly string[];
}

async function list({ context, args, words }: Call): Promise<number> {
  const reference = optionalWord({ words }, "domains list [SCOPE/NAME]");
  const { word, scope = word, name } = reference === undefined ? { word: undefined } : parseReference(reference);
  const found = await context.api.call(listManifests, { query: { kind: "ingress", scope, name } });
  if (found.length === 0) await requireNamed(reference, context);
  const server = await serverAddresses(context, args);
  const rows = await Promise.all(
    found.flatMap((ingress) =>
      // The host "*" is every name that no other ingress has.
      hostsOf(ingress.spec)
        .filter((host) => host !== "*")
        .map(async (host) => ({
          app: `${ingress.scope ?? ""}/${ingress.name}`,
          ...(await look(context, host, server)),
        })),
    ),
  );
  const code = answer(context, { domains: rows }, () => {
    if (rows.length === 0) return reference === undefined ? "no domains" : `${reference} has no domain`;
    const cells = rows.map((row) => [row.app, row.host, statusText(row), recordText(row)]);
    return tableText([["APP", "HOST", "DNS", "RECORD TO SET"], ...cells], tableSetup(context));
  });
  const hint = nextText(rows, ["berth domains check", reference ?? ""].join(" ").trimEnd());
  if (hint !== undefined && !context.json) context.terminal.note(hint);
  return code;
}

async function add(call: Call): Promise<number> {
  const { context } = call;
  const { reference, host } = appAndHost(call, "add");
  const found = await ingressOf(context, reference);
  const ingress = found ?? (await newIngress(context, reference, host));
  const spec = found === undefined ? ingress.spec : withHost(found.spec, host);
  if (spec === undefined) {
    return answer(context, { changed: false, host }, () => `${refOf(ingress)} has ${host} already`);
  }
  await store(context, ingress, spec);
  const check = await look(context, host, await serverAddresses(context, call.args));
  answer(context, { changed: true, ...check }, () => {
    const record = recordText(check);
    return [
      `added ${host} to ${refOf(ingress)}`,
      `DNS: ${statusText(check)}${record === "" ? "" : `; record to set: ${record}`}`,
    ].join("\n");
  });
  remind(context);
  return exitCodes.done;
}

async function remove(call: Call): Promise<number> {
  const { context } = call;
  const { reference, host } = appAndHost(call, "remove");
  const ingress = await ingressOf(context, reference);
  if (ingress === undefined) await requireNamed(reference, context);
  const spec = ingress === undefined ? undefined : withoutHost(ingress.spec, host);
  if (ingress === undefined || spec === undefined) {
    throw new CommandFailure(`${reference} does not have the domain ${host}; see: berth domains list ${reference}`);
  }
  const key = refOf(ingress);
  if (hostsOf(ingress.spec).length === 1) {
    throw new CommandFailure(`${host} is the only domain of ${key}: to take it off the web, berth delete ${key}`);
  }
  await assent(`Take ${host} off ${key}?`, call.args, context);
  await store(context, ingress, spec);
  answer(context, { changed: true, host }, () => `removed ${host} from ${key}`);
  remind(context);
  return exitCodes.done;
}

function appAndHost({ words }: Call, verb: string): { reference: string; host: string } {
  const [reference, written, ...more] = words;
  if (reference === undefined || written === undefined || more.length > 0) {
    throw usageFailure(`say which: domains ${verb} SCOPE/NAME HOST`);
  }
  const host = hostKey(written);
  if (!hostOk(host)) throw usageFailure(`"${printable(written)}" is not a host name, such as www.example.com`);
  return { reference, host };
}

async function ingressOf({ api }: Context, reference: string): Promise<ListedManifest | undefined> {
  const { scope, name } = resourceReference(reference);
  const [first, ...others] = await api.call(listManifests, { query: { kind: "ingress", scope, name } });
  if (others.length > 0) throw usageFailure(`"${reference}" is in several scopes: write SCOPE/NAME`);
  return first;
}

/** For an app that is not on the web yet. */
async function newIngress(context: Context, reference: string, host: string): Promise<ListedManifest> {
  const { scope, name } = resourceReference(reference);
  const found = await context.api.call(listManifests, { query: { scope, name } });
  const apps = found.filter(({ kind }) => isPodKind(kind));
  const scopes = new Set(apps.map((app) => app.scope));
  if (scopes.size > 1) throw usageFailure(`"${reference}" is in several scopes: write SCOPE/NAME`);
  const [app] = apps;
  if (app === undefined) throw new CommandFailure(`no deployment or statefulset "${reference}"; see: berth get all`);
  return {
    kind: "ingress",
    scope: app.scope ?? "",
    name,
    spec: { host, tls: isLocalHost(host) ? { provider: "internal" } : {} },
    metadata: { revision: 0 },
  };
}

type Written = Pick<ListedManifest, "kind" | "scope" | "name" | "metadata">;

function keyOf({ kind, scope, name }: Written) {
  return { kind, scope: scope ?? "", name };
}

/** Refused by the server when somebody else has changed it meanwhile. Masked secrets keep their values. */
async function store({ api }: Context, ingress: Written, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const own = Object.fromEntries(Object.entries(spec).filter(([key]) => !key.startsWith("_")));
  const metadata = { if_revision: ingress.metadata?.revision ?? 0 };
  await api.call(apply, { body: [{ ...keyOf(ingress), spec: own, metadata }], query: {} });
}

function remind({ terminal }: Context): void {
  terminal.note("write this into the manifest too: the next apply of its file sets what the file says");
}

async function look({ network }: Context, host: string, server: readonly string[]): Promise<HostCheck> {
  // Any name below stands for a wildcard.
  return checkHost(host, await network.resolve(host.replace(/^\*\./, "berth-check.")), server);
}

/** Where the server is reached: as the operator says, as the remote is called, or this machine. */
async function serverAddresses({ network, remotes, route: { address } }: Context, args: Arguments): Promise<string[]> {
  const given = args.values("address");
  if (given.length > 0) return [...given];
  if (remotes.chosen !== undefined) return network.resolve(remotes.chosen.host);
  const { hostname } = new URL(address.baseUrl);
  const isHere = address.socket !== undefined || /^(?:localhost|127\..*|\[::1\])$/.test(hostname);
  if (!isHere) return network.resolve(hostname.replace(/^\[|\]$/g, ""));
  // Bridges of containers are not a way in, if there is another.
  const own = network.ownAddresses();
  const open = own.filter(isPublic);
  return open.length > 0 ? open : own;
}
