import { type CommandHandler, type Outcome, PluginError, usage } from "../kit.ts";
import { noMoreThan, parseArguments, readReference, referenceText } from "./arguments.ts";
import type { Cluster } from "./cluster.ts";
import { type Link, linkAction, linksAction, readLinks, sameLink, withLink } from "./links.ts";
import { loadServer, type ServerKind } from "./server.ts";

interface Linking {
  kind: ServerKind;
  /** Config key of the app where no other is asked for. */
  key: string;
  /** Who the app comes as, the config key of its password, and to which database. */
  accountOf(
    values: Readonly<Record<string, string>>,
    cluster: Cluster,
  ): { user: string; passwordKey: string; database: string };
}

/** `link SCOPE/NAME SCOPE/APP`: the app gets the URL of the primary, and a new one whenever that changes. */
export function linkCommand({ kind, key: usualKey, accountOf }: Linking): CommandHandler {
  return async (call): Promise<Outcome> => {
    const args = parseArguments(call.args, { values: ["database", "user", "as"], switches: ["reads"] });
    noMoreThan(args.words, 2);
    const app = referenceText(readReference(args.words[1], "app"));
    const cluster = await loadServer(call, kind, args.words[0]);
    const key = args.values.as ?? usualKey;
    if (!/^[A-Z_][A-Z0-9_]{0,100}$/.test(key)) throw usage(`--as needs a key like ${usualKey}, not "${key}"`);
    const { user, passwordKey, database } = accountOf(args.values, cluster);
    if (!cluster.config[passwordKey]) {
      throw new PluginError(`the block has no user "${user}"; add it to its users and apply`);
    }
    const wanted: Link = { app, key, reads: args.on.has("reads"), database, user, declared: false };
    const known = readLinks(cluster.config[kind.linksKey]);
    if (known.some((other) => other.declared && sameLink(other, wanted))) {
      throw new PluginError(`${key} of ${app} is written in the block's links; change it there and apply that`);
    }
    return {
      message: `${app} has ${key}${wanted.reads ? " and one for reads" : ""} in its config; it follows the primary, now pod ${cluster.primary}`,
      actions: [
        linkAction(wanted, kind.urls(cluster, wanted)),
        linksAction(cluster.of, kind.linksKey, withLink(known, wanted)),
      ],
    };
  };
}
