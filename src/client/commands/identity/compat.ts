import { getIdentityInstance, updateIdentityInstance } from "../../../identity/api/manage/instances.ts";
import type { InstanceSettings } from "../../../identity/api/settings.ts";
import type { Arguments, Flag } from "../../basics/arguments.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { listText } from "../../basics/table-text.ts";
import { noWords } from "../../shell/words.ts";
import { instanceFlag, instanceOf } from "./shared.ts";

/** Flag → setting. */
const settings = {
  "secret-key-header": "secret_key_headers",
  "publishable-key-header": "publishable_key_headers",
  issuer: "jwt_issuer",
  "session-prefix": "session_id_prefix",
  "refresh-prefix": "refresh_token_prefix",
  "placeholder-domain": "placeholder_domain",
} as const;

const flags: readonly Flag[] = [
  instanceFlag,
  { name: "secret-key-header", value: "H", repeat: true, summary: "header that may carry the secret key too" },
  { name: "publishable-key-header", value: "H", repeat: true, summary: "the same for the publishable key" },
  { name: "issuer", value: "I", summary: "claim iss of tokens" },
  { name: "session-prefix", value: "P", summary: "of new session ids" },
  { name: "refresh-prefix", value: "P", summary: "of new refresh tokens" },
  { name: "placeholder-domain", value: "D", summary: "of addresses made for users without one" },
];

export const compatCommand: Command = {
  name: "compat",
  summary: "let clients that were written for another service work unchanged",
  usage: [
    "identity compat [--instance ID]",
    "identity compat [--instance ID] [--secret-key-header H] [--publishable-key-header H]",
    "identity compat [--instance ID] [--issuer I] [--session-prefix P] [--refresh-prefix P]",
  ],
  detail: ["Without a flag it shows what is set. An empty value puts a setting back to its default."],
  flags,
  async run(context, args) {
    noWords(args);
    const instance = await instanceOf(context, args);
    const change = changeOf(args);
    if (Object.keys(change).length > 0) {
      await context.api.call(updateIdentityInstance, { params: { instance }, body: { settings: change } });
    }
    const { effective } = await context.api.call(getIdentityInstance, { params: { instance } });
    const names = Object.values(settings);
    const data = { instance_id: instance, ...Object.fromEntries(names.map((name) => [name, effective[name]])) };
    return answer(context, data, () => text(effective, context));
  },
};

function changeOf(args: Arguments): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  for (const [flag, name] of Object.entries(settings)) {
    const values = args.values(flag);
    if (values.length === 0) continue;
    const isList = name.endsWith("_headers");
    const given = values.filter((value) => value !== "");
    change[name] = given.length === 0 ? null : isList ? given : given.at(-1);
  }
  return change;
}

function text(effective: InstanceSettings, { terminal }: Context): string {
  const rows = Object.values(settings).map((name) => {
    const value = effective[name];
    return [name, Array.isArray(value) ? value.join(", ") || "-" : String(value ?? "-")];
  });
  return listText(rows, { width: terminal.width });
}
