import { createPat, getPat, listPats, type Pat, revokePat, rotatePat } from "../../observability/api/tokens.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { requireKnown } from "../shell/known.ts";
import { noWords, oneWord, optionalWord } from "../shell/words.ts";
import { tableText } from "../basics/table-text.ts";
import { ageOf, shortDuration, timeText } from "../text/time-text.ts";
import { rowsOf } from "../shell/listing.ts";

const once = "shown once: store it now, it cannot be shown again";

const commands: readonly Command[] = [
  {
    name: "create",
    summary: "make a token, and print it once",
    usage: ["pat create [NAME] [--scope SCOPES] [--expires TIME] [--app GLOB…] [--cidr NETWORK…]"],
    examples: [
      "pat create grafana  a token that reads",
      "pat create ci --scope read,actions --app shop --expires 90d  it may restart apps of shop",
    ],
    detail: [
      "Scopes: read (everything but secrets), actions (restart, roll back, scale), host:read (the host and",
      "foreign containers), config:reveal (values of config), exec (commands in pods), admin (tokens,",
      "alert channels). None of them contains another.",
    ],
    flags: [
      { name: "scope", value: "SCOPES", repeat: true, summary: "what it may do, separated by commas (read)" },
      { name: "name", value: "NAME", summary: "what it is for" },
      { name: "expires", value: "TIME", summary: "how long it is good: 90d, 12h, a time, or never (never)" },
      {
        name: "app",
        value: "GLOB",
        repeat: true,
        summary: "only these apps: shop, shop/web, shop/worker-*; not with admin",
      },
      { name: "cidr", value: "NETWORK", repeat: true, summary: "only from there: 192.0.2.7, 10.0.0.0/8" },
    ],
    async run(context, args) {
      const word = optionalWord(args, "a name with blanks needs quotes");
      const body = {
        scopes: listed(args, "scope", ["read"]),
        name: args.value("name") ?? word,
        expires: args.value("expires"),
        apps: listed(args, "app"),
        cidr: listed(args, "cidr"),
      };
      const data = await context.api.call(createPat, { body });
      const code = answer(context, data, () => madeText(data, once));
      if (data.record.expires_at === undefined && body.expires === undefined && !context.json) {
        const { noteStyle } = context.terminal;
        context.terminal.note(
          `${noteStyle.yellow("!")} it works until it is revoked: --expires 90d makes one that ends`,
        );
      }
      return code;
    },
  },
  {
    name: "list",
    summary: "list the tokens, newest first",
    usage: ["pat list [--all]"],
    flags: [{ name: "all", short: "a", summary: "with those that were revoked or have expired" }],
    lists: rowsOf("pats", "id"),
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listPats, { query: { all: args.on("all") ? "true" : undefined } });
      return answer(context, data, () => listText(data.pats, context));
    },
  },
  {
    name: "show",
    summary: "show one token: what it may do, where and when it was used",
    usage: ["pat show ID"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(getPat, { params: { id: oneId(args) } });
      return answer(context, data, () => showText(data.pat, context.clock.now()));
    },
  },
  {
    name: "rotate",
    summary: "make a token like another one, which ends after a grace time",
    usage: ["pat rotate ID [--grace TIME]"],
    flags: [{ name: "grace", value: "TIME", summary: "how long the old one stays good (15m); 0 ends it at once" }],
    async run(context, args) {
      const id = oneId(args);
      const grace = args.value("grace");
      const data = await context.api.call(rotatePat, { params: { id }, body: grace === undefined ? {} : { grace } });
      const ends = grace === "0" ? "has ended" : `ends in ${grace ?? "15m"}`;
      return answer(context, data, () => madeText(data, `${once}\nthe old token ${id} ${ends}`));
    },
  },
  {
    name: "revoke",
    summary: "end a token at once, and cut its streams",
    usage: ["pat revoke ID [-y]"],
    flags: [yesFlag],
    async run(context, args) {
      const id = oneId(args);
      await requireToken(id, context);
      await assent(`end token ${id}? every program that uses it is refused at once`, args, context);
      const data = await context.api.call(revokePat, { params: { id } });
      return answer(context, data, () => `token ${id} has ended`);
    },
  },
];

export const patCommand: CommandBody = {
  usage: [],
  examples: [
    "pat create grafana  a token that reads; it is printed once",
    "pat list  the tokens and when each was last used",
    "pat revoke a1B2c3  end one at once",
  ],
  detail: ["berth pat COMMAND --help says more."],
  flags: [],
  commands,
  run: () => Promise.reject(usageFailure(`say what to do: pat ${commands.map(({ name }) => name).join(", ")}`)),
};

/** The id of a token; a whole token is taken as well, and not sent: the id is a part of it. */
function oneId({ words }: Arguments): string {
  const word = oneWord({ words }, "which token: its id, as berth pat list shows it");
  return /^pat_[A-Za-z0-9_-]{28}$/.test(word) ? word.slice(4, 10) : word;
}

/** Fails for an id that no token has. For the name of a token, it tells the id. */
async function requireToken(id: string, { api }: Context): Promise<void> {
  const { pats } = await api.call(listPats, { query: { all: "true" } });
  const named = pats.filter(({ name, revoked_at: end }) => name === id && end === undefined);
  if (named.length > 0 && pats.every((pat) => pat.id !== id)) {
    const ids = named.map((pat) => pat.id).join(" or ");
    throw new CommandFailure(printable(`"${id}" is the name of a token: write its id, ${ids}`));
  }
  requireKnown(id, { what: "token", names: pats.map((pat) => pat.id), see: "berth pat list" });
}

function listed(args: Arguments, flag: string): string[] | undefined;
function listed(args: Arguments, flag: string, usual: string[]): string[];
function listed(args: Arguments, flag: string, usual?: string[]): string[] | undefined {
  const given = args.values(flag).flatMap((text) => text.split(",").map((word) => word.trim()));
  return given.length === 0 ? usual : given.filter((word) => word !== "");
}

function madeText({ token, record }: { token: string; record: Pat }, after: string): string {
  const ends = record.expires_at === undefined ? "never expires" : `expires ${timeText(record.expires_at)}`;
  return `${token}\n${record.id}: ${record.scopes.join(", ")}; ${ends}\n${after}`;
}

function listText(pats: readonly Pat[], { clock, terminal }: Context): string {
  if (pats.length === 0) return "there are no tokens: berth pat create NAME makes one";
  const now = clock.now();
  const rows = pats.map((pat) =>
    [
      pat.id,
      pat.name ?? "-",
      pat.scopes.join(","),
      pat.apps.length === 0 ? "all" : pat.apps.join(","),
      ageOf(pat.created_at, now),
      pat.last_used_at === undefined ? "never" : ageOf(pat.last_used_at, now),
      endText(pat, now),
    ].map(printable),
  );
  const head = ["ID", "NAME", "SCOPES", "APPS", "AGE", "LAST USED", "ENDS"];
  return tableText([head, ...rows], { width: terminal.width, head: terminal.style.dim });
}

function endText({ revoked_at, expires_at }: Pat, now: number): string {
  if (revoked_at !== undefined) return "revoked";
  if (expires_at === undefined) return "never";
  const left = Date.parse(expires_at) - now;
  return left <= 0 ? "expired" : `in ${shortDuration(left)}`;
}

function showText(pat: Pat, now: number): string {
  const used =
    pat.last_used_at === undefined ? "never" : `${timeText(pat.last_used_at)} from ${pat.last_used_ip ?? "-"}`;
  const rows: [string, string | undefined][] = [
    ["id", pat.id],
    ["name", pat.name],
    ["scopes", pat.scopes.join(", ")],
    ["apps", pat.apps.length === 0 ? "all" : pat.apps.join(", ")],
    ["networks", pat.cidr.length === 0 ? "any" : pat.cidr.join(", ")],
    ["created", `${timeText(pat.created_at)} by ${pat.created_by}`],
    ["last used", used],
    ["with", pat.last_used_agent],
    ["ends", pat.expires_at === undefined ? endText(pat, now) : `${timeText(pat.expires_at)} (${endText(pat, now)})`],
    ["revoked", pat.revoked_at === undefined ? undefined : timeText(pat.revoked_at)],
  ];
  const shown = rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, printable(value)]]));
  return tableText(shown);
}
