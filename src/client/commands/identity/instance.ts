import { unchecked } from "../../basics/unchecked.ts";
import { InstanceSettings } from "../../../identity/api/settings.ts";
import {
  createIdentityInstance,
  deleteIdentityInstance,
  getIdentityInstance,
  type IdentityInstance,
  listIdentityInstances,
  updateIdentityInstance,
} from "../../../identity/api/manage/instances.ts";
import { assent, yesFlag } from "../../shell/ask.ts";
import type { Flag } from "../../basics/arguments.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { usageFailure } from "../../basics/failures.ts";
import { listText } from "../../basics/table-text.ts";
import { didYouMean } from "../../basics/suggest.ts";
import { printable } from "../../basics/style.ts";
import { requireKnown } from "../../shell/known.ts";
import { noWords, oneWord, present } from "../../shell/words.ts";
import { table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

const hostFlag: Flag = { name: "host", value: "HOST", summary: 'host name that leads to the instance; "" for none' };
const redirectFlag: Flag = {
  name: "redirect",
  value: "URL",
  repeat: true,
  summary: "address that browsers may be sent back to; those before are replaced",
};

export const instanceCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the instances",
    usage: ["identity instance list [--app APP]"],
    lists: rowsOf("instances", "id"),
    flags: [{ name: "app", value: "APP", summary: "only of this app: its id or name" }],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listIdentityInstances, { query: { app: args.value("app") } });
      return answer(context, data, () => instancesText(data.instances, context));
    },
  },
  {
    name: "show",
    summary: "show an instance with its settings",
    usage: ["identity instance show ID"],
    flags: [],
    async run(context, args) {
      const instance = oneWord(args, "which instance");
      const data = await context.api.call(getIdentityInstance, { params: { instance } });
      return answer(
        context,
        data,
        () => `${facts(data, context)}\n\n${settingsText(data.effective, data.settings, context)}`,
      );
    },
  },
  {
    name: "create",
    summary: "make an instance; its secret key is shown once",
    usage: ["identity instance create --app APP [--name N] [--environment E] [--host HOST] [SETTING=V…]"],
    flags: [
      { name: "app", value: "APP", summary: "the app: its id or name" },
      { name: "name", value: "NAME", summary: "default: the environment" },
      { name: "environment", value: "E", summary: "production (default) or development" },
      hostFlag,
      redirectFlag,
    ],
    async run(context, args) {
      const app = args.value("app");
      if (app === undefined) throw usageFailure("say which app: --app APP");
      const settings = settingsOf(args.words, args.values("redirect"));
      const fields = {
        name: args.value("name"),
        environment: unchecked<"production" | "development" | undefined>(args.value("environment")),
        host: args.value("host"),
      };
      const body = { app, ...present(fields), settings };
      const data = await context.api.call(createIdentityInstance, { body });
      return answer(context, data, () => `${facts(data, context)}\nsecret key       ${data.secret_key}   shown once`);
    },
  },
  {
    name: "set",
    summary: "change name, host or settings",
    usage: ["identity instance set ID [--name NAME] [--host HOST] [--redirect URL]… [SETTING=VALUE…]"],
    detail: ["SETTING= puts one back to its default; show lists them. Lists are written a,b,c."],
    flags: [{ name: "name", value: "NAME", summary: "another name" }, hostFlag, redirectFlag],
    async run(context, args) {
      const [instance, ...words] = args.words;
      if (instance === undefined) throw usageFailure("say which instance");
      const settings = settingsOf(words, args.values("redirect"));
      const body = present({ name: args.value("name"), host: args.value("host"), settings });
      const data = await context.api.call(updateIdentityInstance, { params: { instance }, body });
      return answer(context, data, () => facts(data, context));
    },
  },
  {
    name: "delete",
    summary: "delete an instance with its users, sessions and keys",
    usage: ["identity instance delete ID [--yes]"],
    flags: [yesFlag],
    async run(context, args) {
      const instance = oneWord(args, "which instance");
      const { instances } = await context.api.call(listIdentityInstances);
      const names = instances.map(({ id }) => id);
      requireKnown(instance, { what: "instance", names, see: "berth identity instance list" });
      const known = await context.api.call(getIdentityInstance, { params: { instance } });
      await assent(`delete instance ${known.name} of ${known.app} with all its users?`, args, context);
      const data = await context.api.call(deleteIdentityInstance, { params: { instance } });
      return answer(context, data, () => `deleted instance ${data.id} with ${data.users} users`);
    },
  },
];

function instancesText(instances: readonly IdentityInstance[], context: Context): string {
  if (instances.length === 0) return "no instances yet: berth identity quickstart makes one";
  const rows = instances.map(({ id, app, name, environment, url }) => [id, app, name, environment, url]);
  return table(["ID", "APP", "NAME", "ENVIRONMENT", "URL"], rows, context);
}

function facts(instance: IdentityInstance, { terminal }: Context): string {
  const { id, app, app_id, name, environment, publishable_key, sign_in_url } = instance;
  const rows = [
    ["instance", `${id}  (${name === environment ? name : `${name}, ${environment}`})`],
    ["app", `${printable(app)}  (${app_id})`],
    ["publishable key", publishable_key],
    ["sign in", sign_in_url],
  ];
  return listText(rows, { width: terminal.width });
}

function settingsText(effective: InstanceSettings, written: InstanceSettings, { terminal }: Context): string {
  const rows = Object.entries(effective).map(([name, value]) => {
    const text = printable(Array.isArray(value) ? value.join(",") : String(value ?? ""));
    return [name, Object.hasOwn(written, name) ? text : terminal.style.dim(text)];
  });
  return listText(rows, { width: terminal.width });
}

/** `NAME=VALUE` words by the types of the settings; undefined where there is nothing to change. */
function settingsOf(words: readonly string[], redirects: readonly string[] = []): Record<string, unknown> | undefined {
  const settings: Record<string, unknown> = redirects.length === 0 ? {} : { redirect_uris: redirects };
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) throw usageFailure(`"${word}" is not SETTING=VALUE`);
    const name = word.slice(0, equals);
    settings[name] = settingValue(name, word.slice(equals + 1));
  }
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function settingValue(name: string, text: string): unknown {
  const known = Object.entries(InstanceSettings.properties).find(([field]) => field === name)?.[1];
  if (known === undefined) {
    throw usageFailure(`no setting "${name}"${didYouMean(name, Object.keys(InstanceSettings.properties))}`);
  }
  if (text === "") return null;
  const types = JSON.stringify(known);
  if (types.includes('"type":"array"')) return text.split(",").map((item) => item.trim());
  if (types.includes('"type":"boolean"')) return text === "true" ? true : text === "false" ? false : text;
  if (types.includes('"type":"integer"')) return /^\d{1,15}$/.test(text) ? Number(text) : text === "null" ? null : text;
  return text;
}
