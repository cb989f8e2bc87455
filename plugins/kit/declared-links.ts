import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import { type Fields, identifier } from "./fields.ts";
import { type Link, linkAction, linksAction, readLinks, sameLink, unlinkAction, type Urls, withLink } from "./links.ts";

export interface LinkDefaults {
  /** Scope of the block: an app may be written without one. */
  scope: string;
  key: string;
  database: string;
  user: string;
  /** Names of the block's users. */
  users: readonly string[];
}

const appRule = { pattern: /^([a-z0-9][a-z0-9-]*\/)?[a-z0-9][a-z0-9._-]*$/, form: 'an app such as "shop/web"' };
const keyRule = { pattern: /^[A-Z_][A-Z0-9_]{0,100}$/, form: "a key such as DATABASE_URL" };

/** The `links` of a block: each is an app, or an object with the app and what it gets. */
export function readDeclaredLinks(fields: Fields, defaults: LinkDefaults): Link[] {
  return fields.itemsOf("links", "app").map((item) => {
    const app = item.name("app", appRule);
    const user = item.text("user", defaults.user, identifier);
    if (!defaults.users.includes(user)) item.problem("user", `"${user}" is not a user of this block; add it to users`);
    return {
      app: app.includes("/") ? app : `${defaults.scope}/${app}`,
      key: item.text("as", defaults.key, keyRule),
      reads: item.flag("reads", false),
      database: item.text("database", defaults.database, identifierOrNumber),
      user,
      declared: true,
    };
  });
}

const identifierOrNumber = { pattern: /^([a-z_][a-z0-9_]{0,62}|\d{1,5})$/, form: "the name or number of a database" };

export interface Linking {
  of: { scope: string; name: string };
  /** Config key of the links. */
  key: string;
  /** What the config remembers of earlier links. */
  known: string | undefined;
  declared: readonly Link[];
  urlsOf: (link: Link) => Urls;
}

/**
 * What gives apps their URLs as the block says, and takes those away that it no longer names. The same actions each
 * time: an app that was deleted and made again has lost its config.
 */
export function declaredLinkActions({ of, key, known, declared, urlsOf }: Linking): Action[] {
  const before = readLinks(known);
  const gone = before.filter((link) => link.declared && !declared.some((other) => sameLink(link, other)));
  const kept = before.filter((link) => !gone.includes(link));
  const links = declared.reduce<Link[]>((all, link) => withLink(all, link), kept);
  if (gone.length === 0 && declared.length === 0) return [];
  return [
    ...gone.map(unlinkAction),
    ...declared.map((link) => linkAction(link, urlsOf(link))),
    linksAction(of, key, links),
  ];
}
