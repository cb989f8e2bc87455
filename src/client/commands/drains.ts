import {
  deleteDrain,
  type Drain,
  type DrainBody,
  type DrainTarget,
  listDrains,
  putDrain,
  testDrain,
} from "../../observability/api/log-drains.ts";
import { resolve } from "node:path";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type Command, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { readBounded } from "../basics/read-bounded.ts";
import { rowsOf } from "../shell/listing.ts";
import { printable } from "../basics/style.ts";
import { refusedText } from "../text/drain-text.ts";
import { tableText } from "../basics/table-text.ts";
import { timeText } from "../text/time-text.ts";

const commands: readonly Command[] = [
  {
    name: "list",
    summary: "list where lines are sent to, how far, and what went wrong",
    usage: ["drains list"],
    flags: [],
    groups: true,
    lists: rowsOf("drains", "name"),
    async run(context) {
      const data = await context.api.call(listDrains, {});
      return answer(context, data, () => drainsText(data.drains, context));
    },
  },
  {
    name: "add",
    summary: "send the lines from now on to another place, or change where to",
    usage: [
      "drains add NAME http URL [--header 'NAME: VALUE']",
      "drains add NAME syslog HOST:PORT [--ca FILE | --plain]",
      "drains add NAME s3 BUCKET --key-id ID [--endpoint URL] [--region REGION] [--prefix PREFIX]",
    ],
    examples: [
      "drains add loki http https://logs.example.com/in --app 'shop/*'",
      "drains add papertrail syslog logs.example.com:6514 --level warn",
      "drains add archive s3 my-logs --key-id AKIA1 < secret-key.txt",
    ],
    detail: [
      "Lines go out in batches, oldest first, until the other side has taken them: as JSON lines by POST,",
      "as RFC 5424 over TLS, or as gzip files of JSON lines. The access key of s3 comes on stdin.",
      "Addresses inside the machine and its networks need: berth serve --allow-private-hooks.",
    ],
    flags: [
      { name: "app", value: "SCOPE/NAME", repeat: true, summary: "only of these apps; * stands for any characters" },
      { name: "level", value: "LEVEL", summary: "only this level and above" },
      { name: "header", value: "NAME: VALUE", repeat: true, summary: "of http: sent with each request" },
      { name: "plain", summary: "of syslog: without TLS" },
      { name: "ca", value: "FILE", summary: "of syslog: PEM of the authority of its certificate" },
      { name: "key-id", value: "ID", summary: "of s3: id of the access key" },
      { name: "endpoint", value: "URL", summary: "of s3: storage other than AWS" },
      { name: "region", value: "REGION", summary: "of s3" },
      { name: "prefix", value: "PREFIX", summary: "of s3: what the names of the objects begin with" },
    ],
    async run(context, args) {
      const [name, type, place, ...more] = args.words;
      if (name === undefined || type === undefined || place === undefined || more.length > 0)
        throw usageFailure("drains add takes a NAME, one of http, syslog and s3, and where to");
      const level = args.value("level");
      const apps = [...args.values("app")];
      const target = await targetOf(type, place, { context, args });
      const body: DrainBody = {
        target,
        ...(apps.length === 0 ? {} : { apps }),
        ...(level === undefined ? {} : { level }),
      };
      const data = await context.api.call(putDrain, { params: { name }, body });
      return answer(
        context,
        data,
        () => `${data.name} sends lines to ${printable(data.target)}; try it with: berth drains test ${data.name}`,
      );
    },
  },
  {
    name: "test",
    summary: "send one test line now, and say what came of it",
    usage: ["drains test NAME"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(testDrain, { params: { name: oneName(args) } });
      if (!data.delivered) throw new CommandFailure(`the test line was not delivered: ${printable(data.result)}`);
      return answer(context, data, () => printable(data.result));
    },
  },
  {
    name: "remove",
    summary: "send no more lines there",
    usage: ["drains remove NAME"],
    flags: [],
    async run(context, args) {
      const data = await context.api.call(deleteDrain, { params: { name: oneName(args) } });
      return answer(context, data, () => `removed ${data.name}`);
    },
  },
];

export const drainsCommand: CommandBody = {
  usage: ["drains", "drains add NAME http|syslog|s3 WHERE", "drains test NAME", "drains remove NAME"],
  examples: [
    "drains  what is sent where, and how far",
    "drains add loki http https://logs.example.com/in  send every line as JSON",
  ],
  detail: ["berth drains COMMAND --help says more."],
  flags: [],
  commands,
  run: (context, args) => {
    const [word] = args.words;
    if (word !== undefined) throw usageFailure(`unknown command "drains ${word}": use list, add, test or remove`);
    return (commands[0] as Command).run(context, args);
  },
};

function oneName(args: Arguments): string {
  const [name, ...more] = args.words;
  if (name === undefined || more.length > 0)
    throw usageFailure("write the NAME of one drain, as berth drains shows it");
  return name;
}

async function targetOf(
  type: string,
  place: string,
  { context, args }: { context: Context; args: Arguments },
): Promise<DrainTarget> {
  if (type === "http") {
    const headers = Object.fromEntries(args.values("header").map(headerOf));
    return { type, url: place, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
  }
  if (type === "syslog") {
    const found = /^(.+):(\d{1,5})$/.exec(place);
    if (found === null) throw usageFailure(`"${place}" is not HOST:PORT, for example: logs.example.com:6514`);
    const ca = args.value("ca");
    const trusted = ca === undefined ? {} : { ca: textOf(context, ca) };
    return { type, host: found[1] ?? "", port: Number(found[2]), tls: !args.on("plain"), ...trusted };
  }
  if (type !== "s3") throw usageFailure(`unknown type "${type}": use http, syslog or s3`);
  const id = args.value("key-id");
  if (id === undefined) throw usageFailure("s3 needs --key-id, and the access key on stdin");
  const secret = (await context.stdin()).trim();
  if (secret === "") throw usageFailure("the access key is missing: give it on stdin, for example: < secret-key.txt");
  const [endpoint, region, prefix] = [args.value("endpoint"), args.value("region"), args.value("prefix")];
  return {
    ...{ type, bucket: place, access_key_id: id, secret_access_key: secret },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(prefix === undefined ? {} : { prefix }),
  };
}

function headerOf(text: string): [string, string] {
  const found = /^([A-Za-z0-9-]+):\s*(.+)$/.exec(text);
  if (found === null) throw usageFailure(`--header "${text}" is not NAME: VALUE`);
  return [found[1] ?? "", found[2] ?? ""];
}

function drainsText(drains: readonly Drain[], { terminal }: Context): string {
  if (drains.length === 0) return "no drains; see: berth drains add --help";
  const { style } = terminal;
  const rows = drains.map(
    ({ name, type, target, apps, level, state, delivered_lines: lines, delivered_until: until }) => [
      name,
      `${type} ${printable(target)}`,
      `${apps.length === 0 ? "all apps" : apps.join(", ")}${level === undefined ? "" : `, ${level} and above`}`,
      state === "failing" ? style.red(state) : state,
      `${lines} lines until ${timeText(until)}`,
    ],
  );
  const faults = drains.flatMap(({ name, last_error: error, next_at: next }) =>
    error === undefined
      ? []
      : [`${style.red(name)}: ${printable(error)}; next try at ${next === undefined ? "-" : timeText(next)}`],
  );
  const refused = drains.flatMap((drain) =>
    drain.refused_lines === 0 ? [] : [`${style.yellow(drain.name)}: ${printable(refusedText(drain))}`],
  );
  return [
    tableText([["NAME", "TO", "WHAT", "STATE", "DELIVERED"], ...rows], { head: style.dim }),
    ...faults,
    ...refused,
  ].join("\n");
}

function textOf({ cwd, limits }: Context, file: string): string {
  return new TextDecoder().decode(readBounded(resolve(cwd, file), file, { bytesMax: limits.fileBytesMax }));
}
