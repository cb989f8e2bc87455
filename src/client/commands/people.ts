import { readableEmail } from "../../base/pure/domain-names.ts";
import {
  disablePeople,
  enablePeople,
  endPersonSessions,
  listPeople,
  type Person,
  removePerson,
  roles,
  setPerson,
} from "../../observability/api/people.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { rowsOf } from "../shell/listing.ts";
import { didYouMean } from "../basics/suggest.ts";
import { printable } from "../basics/style.ts";
import { requireKnown } from "../shell/known.ts";
import { noWords, oneWord, optionalWord } from "../shell/words.ts";
import { listText, tableText } from "../basics/table-text.ts";
import { ageOf } from "../text/time-text.ts";

const commands: readonly Command[] = [
  {
    name: "enable",
    summary: "let people sign in to the web UI through the identity service",
    usage: ["people enable [INSTANCE] [--url URL…]"],
    examples: [
      "people enable --url https://berth.example.com  with an instance that it makes",
      "people enable inst_a1b2c3  with an instance of your own",
    ],
    detail: [
      "URL is where browsers reach the web UI; this machine is always one. An instance of your own needs",
      "delivery=code. Another instance than before ends every session of people.",
    ],
    flags: [{ name: "url", value: "URL", repeat: true, summary: "address of the web UI: https://berth.example.com" }],
    async run(context, args) {
      const instance = optionalWord(args, "name one instance");
      const data = await context.api.call(enablePeople, { body: { instance, urls: args.values("url") } });
      return answer(context, data, () => {
        const facts = [
          ["instance", `${data.instance}${data.made ? " (new)" : ""}`],
          ["sign-in page", data.sign_in_url],
          ["web UI", data.addresses.map(placeText).join(", ")],
        ].map((row) => row.map(printable));
        const next = "next: berth people set ana@example.com admin";
        return `${listText(facts, { width: context.terminal.width })}\n${next}`;
      });
    },
  },
  {
    name: "set",
    summary: "give a person a role: viewer, operator or admin",
    usage: ["people set EMAIL ROLE [--app GLOB…]"],
    examples: [
      "people set ana@example.com admin  everything",
      "people set bo@example.com viewer --app shop  only looks, and only at the apps of shop",
    ],
    detail: [
      "viewer: read. operator: read, actions, host:read. admin: every scope. The address must be proven at",
      "the identity service. A changed role ends the sessions of the person.",
    ],
    flags: [
      {
        name: "app",
        value: "GLOB",
        repeat: true,
        summary: "only these apps: shop, shop/web, shop/worker-*; not with admin",
      },
    ],
    async run(context, args) {
      const [person, word, ...more] = args.words;
      if (person === undefined || word === undefined || more.length > 0) {
        throw usageFailure("say who and which role: people set ana@example.com viewer");
      }
      const role = roles.find((one) => one === word);
      if (role === undefined) {
        const hint = didYouMean(word, roles) || `; there are ${roles.join(", ")}`;
        throw usageFailure(`"${word}" is not a role${hint}`);
      }
      const body = { role, apps: args.values("app").flatMap((text) => text.split(",").filter((glob) => glob !== "")) };
      const data = await context.api.call(setPerson, { params: { person }, body });
      answer(
        context,
        data,
        () => `${printable(readableEmail(data.email))} is ${data.role}${endedText(data.sessions_ended)}`,
      );
      if (!context.json && !data.has_account) await noteAccount(context, data.email);
      return exitCodes.done;
    },
  },
  {
    name: "list",
    summary: "list people, their roles and whether they are signed in",
    usage: ["people list"],
    lists: rowsOf("people", "email"),
    flags: [],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listPeople);
      answer(context, data, () => peopleText(data.people, context));
      if (!context.json && data.sign_in === undefined) {
        context.terminal.note("the sign-in of people is off: berth people enable turns it on");
      }
      return exitCodes.done;
    },
  },
  {
    name: "sign-out",
    summary: "end every session of a person; the role stays",
    usage: ["people sign-out EMAIL"],
    flags: [],
    run: (context, args) =>
      tell(context, endPersonSessions, onePerson(args), (ended) => ended || ": no session is open"),
  },
  {
    name: "remove",
    summary: "take the role of a person, and end every session at once",
    usage: ["people remove EMAIL [-y]"],
    flags: [yesFlag],
    async run(context, args) {
      const person = onePerson(args);
      await requirePerson(person, context);
      await assent(`take the role of ${printable(person)}? every session ends at once`, args, context);
      return tell(context, removePerson, person, (ended) => ` has no role any more${ended}`);
    },
  },
  {
    name: "disable",
    summary: "turn the sign-in of people off, and end their sessions; roles are kept",
    usage: ["people disable [-y]"],
    flags: [yesFlag],
    async run(context, args) {
      noWords(args);
      await assent("turn the sign-in of people off? every session of people ends at once", args, context);
      const data = await context.api.call(disablePeople);
      return answer(context, data, () => `the sign-in of people is off${endedText(data.sessions_ended)}`);
    },
  },
];

export const peopleCommand: CommandBody = {
  usage: [],
  examples: [
    "people enable --url https://berth.example.com  let people sign in to the web UI",
    "people set ana@example.com admin  give a role",
    "people list  who has a role, and who is signed in",
  ],
  detail: ["berth people COMMAND --help says more."],
  flags: [],
  commands,
  run: () => Promise.reject(usageFailure(`say what to do: people ${commands.map(({ name }) => name).join(", ")}`)),
};

const onePerson = (args: Arguments) => oneWord(args, "who: the address, as berth people list shows it");

async function requirePerson(person: string, { api }: Context): Promise<void> {
  const { people } = await api.call(listPeople);
  const form = (address: string) => readableEmail(address.trim().toLowerCase());
  const names = people.map(({ email }) => form(email));
  requireKnown(form(person), { what: "person", names, see: "berth people list" });
}

/** `text` says what became of the person, and gets what became of the sessions. */
async function tell(
  context: Context,
  endpoint: typeof endPersonSessions | typeof removePerson,
  person: string,
  text: (ended: string) => string,
): Promise<number> {
  const data = await context.api.call(endpoint, { params: { person } });
  return answer(context, data, () => `${printable(readableEmail(data.email))}${text(endedText(data.sessions_ended))}`);
}

function endedText(count: number): string {
  return count === 0 ? "" : `; ended ${count} ${count === 1 ? "session" : "sessions"}`;
}

/** A role opens nothing until there is an account with the address. */
async function noteAccount({ api, terminal }: Context, email: string): Promise<void> {
  const { sign_in: signIn } = await api.call(listPeople);
  const way =
    signIn === undefined
      ? "the sign-in of people is off: berth people enable turns it on"
      : `no account has this address yet: berth identity user create --instance ${signIn.instance} --email ${printable(email)} --password -`;
  terminal.note(way);
}

function peopleText(people: readonly Person[], { clock, terminal }: Context): string {
  if (people.length === 0) return "no person has a role yet: berth people set ana@example.com admin";
  const now = clock.now();
  const rows = people.map(({ email, role, apps, last_sign_in_at: at, sessions }) =>
    [
      readableEmail(email),
      role,
      apps.length === 0 ? "all" : apps.join(","),
      at === undefined ? "never" : ageOf(at, now),
      String(sessions.length),
    ].map(printable),
  );
  const head = ["EMAIL", "ROLE", "APPS", "SIGNED IN", "SESSIONS"];
  return tableText([head, ...rows], { width: terminal.width, head: terminal.style.dim });
}

/** The identity service takes every port of a loopback address. */
function placeText(address: string): string {
  return address.replace(/^http:\/\/127\.0\.0\.1:\d+$/, "this machine, at any port");
}
