import { noMoreThan, parseArguments, readReference, referenceText, wholeNumber } from "../../kit/arguments.ts";
import { type Link, linkAction, linksAction, readLinks, sameLink, withLink } from "../../kit/links.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError, usage } from "../../kit.ts";
import { firstUser, keys, passwordKey } from "../keys.ts";
import { redisKind } from "../server.ts";

/** `link SCOPE/NAME SCOPE/APP`: the app gets the URL of the primary, and a new one whenever that changes. */
export async function link(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["database", "user", "as"], switches: ["reads"] });
  noMoreThan(args.words, 2);
  const app = referenceText(readReference(args.words[1], "app"));
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const key = args.values.as ?? "REDIS_URL";
  if (!/^[A-Z_][A-Z0-9_]{0,100}$/.test(key)) throw usage(`--as needs a key like REDIS_URL, not "${key}"`);
  const user = args.values.user ?? firstUser;
  if (!cluster.config[passwordKey(user)])
    throw new PluginError(`the block has no user "${user}"; add it to its users and apply`);
  const database = String(wholeNumber(args.values.database, "database") ?? 0);
  const wanted: Link = { app, key, reads: args.on.has("reads"), database, user, declared: false };
  const known = readLinks(cluster.config[keys.links]);
  if (known.some((other) => other.declared && sameLink(other, wanted))) {
    throw new PluginError(`${key} of ${app} is written in the block's links; change it there and apply that`);
  }
  const links = withLink(known, wanted);
  return {
    message: `${app} has ${key}${wanted.reads ? " and one for reads" : ""} in its config; it follows the primary, now pod ${cluster.primary}`,
    actions: [linkAction(wanted, redisKind.urls(cluster, wanted)), linksAction(cluster.of, keys.links, links)],
  };
}
