import {
  deleteSavedSearch,
  listSavedSearches,
  type LogSearch,
  type LogSearchBody,
  saveSearch,
} from "../../observability/api/log-searches.ts";
import { logFilters, textFlags } from "../session/log-query.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
import { rowsOf } from "../shell/listing.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";

const commands: readonly Command[] = [
  {
    name: "list",
    summary: "list the saved searches",
    usage: ["searches list"],
    flags: [],
    groups: true,
    lists: rowsOf("searches", "name"),
    async run(context) {
      const data = await context.api.call(listSavedSearches, {});
      return answer(context, data, () => searchesText(data.searches, context));
    },
  },
  {
    name: "save",
    summary: "save a search, or replace it",
    usage: ["searches save NAME [SCOPE[/NAME]] [--grep TEXT] [--level LEVEL] [--since TIME]"],
    examples: ["searches save failed-payments shop --field path=/pay --since 24h  in all apps of a scope"],
    flags: [...textFlags, { name: "since", value: "TIME", summary: "how long ago it begins: 15m, 1h, 24h" }],
    async run(context, args) {
      const [name, reference, ...more] = args.words;
      if (name === undefined || more.length > 0) throw usageFailure("searches save takes a NAME and one SCOPE/NAME");
      const { q, app, level, from, replica } = logFilters(reference, args);
      if (replica !== undefined) throw usageFailure("a saved search is about apps: leave out the replica");
      const given = Object.entries({ q, app, level, from }).filter(([, value]) => value !== undefined);
      const body: LogSearchBody = Object.fromEntries(given);
      const data = await context.api.call(saveSearch, { params: { name }, body });
      return answer(context, data, () => `saved ${data.name}; use it with: berth logs --saved ${data.name}`);
    },
  },
  {
    name: "remove",
    summary: "delete a saved search",
    usage: ["searches remove NAME"],
    flags: [],
    async run(context, args) {
      const [name, ...more] = args.words;
      if (name === undefined || more.length > 0) throw usageFailure("write the NAME of one saved search");
      const data = await context.api.call(deleteSavedSearch, { params: { name } });
      return answer(context, data, () => `removed ${data.name}`);
    },
  },
];

export const searchesCommand: CommandBody = {
  usage: ["searches", "searches save NAME [SCOPE[/NAME]] [--grep TEXT] [--level LEVEL]", "searches remove NAME"],
  examples: [
    "searches  the names, and what each looks for",
    "searches save errors shop --level error  in every app of a scope",
  ],
  detail: [
    "All users of the installation share them. To use one: berth logs --saved NAME",
    "berth searches COMMAND --help says more.",
  ],
  flags: [],
  commands,
  run: (context, args) => {
    const [word] = args.words;
    if (word !== undefined) throw usageFailure(`unknown command "searches ${word}": use list, save or remove`);
    return (commands[0] as Command).run(context, args);
  },
};

function searchesText(searches: readonly LogSearch[], { terminal }: Context): string {
  if (searches.length === 0) return "no saved searches; see: berth searches save --help";
  const rows = searches.map(({ name, app = "", q = "", level = "", from = "" }) => [
    name,
    app === "" ? "all apps" : printable(app),
    printable(q),
    level === "" ? "" : `${level} and above`,
    from === "" ? "" : `last ${from}`,
  ]);
  return tableText([["NAME", "APP", "SEARCH", "LEVEL", "TIME"], ...rows], { head: terminal.style.dim });
}
