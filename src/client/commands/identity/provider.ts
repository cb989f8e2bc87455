import {
  deleteIdentityProvider,
  type IdentityProvider,
  listIdentityProviders,
  putIdentityProvider,
} from "../../../identity/api/manage/providers.ts";
import type { Arguments, Flag } from "../../basics/arguments.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { usageFailure } from "../../basics/failures.ts";
import { noWords, oneWord, present } from "../../shell/words.ts";
import { flagOf, instanceFlag, instanceOf, secretValue, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

const globalFlag: Flag = { name: "global", summary: "for every instance without credentials of its own" };
const where = [instanceFlag, globalFlag];
const url = (name: string, summary: string): Flag => ({ name, value: "URL", summary });

export const providerCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the providers of an instance and what its page offers",
    usage: ["identity provider list [--instance ID | --global]"],
    lists: rowsOf("providers", "provider"),
    flags: where,
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listIdentityProviders, { query: await placeOf(context, args) });
      return answer(context, data, () => providersText(data.providers, data.offered, context));
    },
  },
  {
    name: "set",
    summary: "set credentials and options of a provider",
    usage: [
      "identity provider set NAME [--instance ID | --global] --client-id X --client-secret Y",
      "identity provider set NAME [--instance ID] --issuer URL --client-id X --client-secret Y",
      "identity provider set NAME [--instance ID] --disable",
    ],
    detail: [
      "NAME is google, github or twitter; any other name is an OpenID Connect connection, known by its",
      "--issuer. What is left out stays; an empty value puts it back to its default.",
      "--client-secret - reads it from stdin.",
    ],
    flags: [
      ...where,
      { name: "client-id", value: "X", summary: "as the provider has given it" },
      { name: "client-secret", value: "Y", summary: "kept sealed, never shown again; - reads it from stdin" },
      url("authorize-url", "authorization endpoint"),
      url("token-url", "token endpoint"),
      url("userinfo-url", "profile endpoint"),
      url("emails-url", "listing of addresses; github only"),
      url("issuer", "of an OpenID Connect connection"),
      { name: "scope", value: "SCOPE", repeat: true, summary: "requested scope; those before are replaced" },
      { name: "label", value: "TEXT", summary: "on the button of the page" },
      { name: "pkce", summary: "send a PKCE challenge; --pkce=false does not" },
      { name: "trusted", summary: "its verified addresses may join users; OpenID Connect only" },
      { name: "select-account", summary: "ask which account each time" },
      { name: "enable", summary: "offer it on the page" },
      { name: "disable", summary: "do not offer it, whatever else is set" },
    ],
    async run(context, args) {
      const name = oneWord(args, "which provider: google, github, twitter or a name of your own");
      if (args.on("enable") && args.on("disable")) throw usageFailure("--enable and --disable exclude each other");
      const options = optionsOf(args);
      const body = present({
        client_id: args.value("client-id"),
        client_secret: await secretValue(args, "client-secret", context),
        enabled: args.on("enable") ? true : args.on("disable") ? false : undefined,
        options: Object.keys(options).length === 0 ? undefined : options,
      });
      const query = await placeOf(context, args);
      const data = await context.api.call(putIdentityProvider, { params: { name }, query, body });
      return answer(context, data, () => {
        const state = data.enabled ? "set" : "disabled";
        return [`${data.name} is ${state}`, registerText(data), unprovedText(data)]
          .filter((line) => line !== "")
          .join("\n");
      });
    },
  },
  {
    name: "delete",
    summary: "forget settings and credentials of a provider; its users stay",
    usage: ["identity provider delete NAME [--instance ID | --global]"],
    flags: where,
    async run(context, args) {
      const name = oneWord(args, "which provider");
      const data = await context.api.call(deleteIdentityProvider, {
        params: { name },
        query: await placeOf(context, args),
      });
      return answer(context, data, () => `forgot ${name}`);
    },
  },
];

async function placeOf(context: Context, args: Arguments): Promise<{ instance?: string; global?: string }> {
  if (!args.on("global")) return { instance: await instanceOf(context, args) };
  if (args.value("instance") !== undefined) throw usageFailure("--instance and --global exclude each other");
  return { global: "true" };
}

const textOptions = {
  "authorize-url": "authorize_url",
  "token-url": "token_url",
  "userinfo-url": "userinfo_url",
  "emails-url": "emails_url",
  issuer: "issuer",
  label: "label",
} as const;
const switchOptions = { pkce: "pkce", trusted: "trusted", "select-account": "select_account" } as const;

function optionsOf(args: Arguments): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [flag, option] of Object.entries(textOptions)) {
    const value = args.value(flag);
    if (value !== undefined) options[option] = value === "" ? null : value;
  }
  for (const [flag, option] of Object.entries(switchOptions)) {
    const value = flagOf(args, flag);
    if (value !== undefined) options[option] = value;
  }
  const scopes = args.values("scope").filter((scope) => scope !== "");
  if (args.values("scope").length > 0) options.scopes = scopes.length === 0 ? null : scopes;
  return options;
}

function providersText(providers: readonly IdentityProvider[], offered: readonly string[], context: Context): string {
  const rows = providers.map(({ name, kind, instance, enabled, client_id, has_secret }) => [
    name,
    kind,
    instance === null ? "every instance" : "this instance",
    enabled ? "yes" : "no",
    client_id ?? "global",
    has_secret ? "set" : "-",
  ]);
  const register = providers.map((provider) => `  ${registerText(provider)}`);
  const head = ["NAME", "KIND", "SET FOR", "ENABLED", "CLIENT ID", "SECRET"];
  const list = rows.length === 0 ? "no providers are set" : table(head, rows, context);
  const offer = offered.length === 0 ? [] : [`the page offers: ${offered.join(", ")}`];
  return [list, ...offer, ...(register.length === 0 ? [] : ["", "to enter at the providers:", ...register])].join("\n");
}

/** Where each of the known providers wants the address that it sends browsers back to. */
const places: Readonly<Record<string, string>> = {
  google: "console.cloud.google.com, Google Auth Platform, Clients: authorized redirect URIs",
  github: "github.com, Settings, Developer settings, OAuth Apps: authorization callback URL",
  twitter: "developer.x.com, the app, User authentication settings: callback URI",
};

function registerText({ name, kind, callback_url, options }: IdentityProvider): string {
  const { issuer, authorize_url: authorize } = options;
  const own = [issuer, authorize].find((address) => address !== undefined && URL.canParse(address));
  const place = own === undefined ? places[kind] : `${new URL(own).host}, the client of this service: redirect URIs`;
  return `redirect address of ${name}: ${callback_url}${place === undefined ? "" : `   (${place})`}`;
}

/** Who sets up a connection believes that its users come with their addresses. */
function unprovedText({ name, kind, options }: IdentityProvider): string {
  if (kind !== "oidc" || options.trusted === true) return "";
  return (
    `addresses from ${name} stay unproved: its users get an address of ours and join no user who is there;\n` +
    "if it checks addresses itself, say --trusted"
  );
}
