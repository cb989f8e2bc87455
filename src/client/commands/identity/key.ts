import {
  createIdentityKey,
  deleteIdentityKey,
  listIdentityKeys,
  promoteIdentityKey,
  rotateIdentityKey,
} from "../../../identity/api/manage/keys.ts";
import { assent, yesFlag } from "../../shell/ask.ts";
import { answer, type Command } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { requireKnown } from "../../shell/known.ts";
import { noWords, oneWord, present } from "../../shell/words.ts";
import { instanceFlag, instanceOf, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

const once = "shown once: keep it where your server reads its secrets";

export const keyCommands: readonly Command[] = [
  {
    name: "list",
    summary: "list the keys of an instance, without their values",
    usage: ["identity key list [--instance ID]"],
    lists: rowsOf("keys", "id"),
    flags: [instanceFlag],
    async run(context, args) {
      noWords(args);
      const params = { instance: await instanceOf(context, args) };
      const data = await context.api.call(listIdentityKeys, { params });
      return answer(context, data, () => {
        const rows = data.keys.map(({ id, use, state, prefix, created_at, expires_at }) => {
          return [id, `${prefix}…`, use, state, timeText(created_at), expires_at ? timeText(expires_at) : "-"];
        });
        return table(["ID", "KEY", "USE", "STATE", "CREATED", "EXPIRES"], rows, context);
      });
    },
  },
  {
    name: "create",
    summary: "make a key that the API accepts and that never signs a token",
    usage: ["identity key create [--instance ID]"],
    flags: [instanceFlag],
    async run(context, args) {
      noWords(args);
      const params = { instance: await instanceOf(context, args) };
      const data = await context.api.call(createIdentityKey, { params });
      return answer(context, data, () => `${data.secret_key}\n${data.id}, ${once}`);
    },
  },
  {
    name: "rotate",
    summary: "stage a new secret key: it is accepted, and signs once it is promoted",
    usage: ["identity key rotate [--instance ID] [--now]"],
    detail: [
      "Give the new key to your servers, then: identity key promote. Tokens that the old one has signed",
      "stay good for a day. --now is for a leak: all tokens and every other key end at once, those made",
      "with identity key create included.",
    ],
    flags: [instanceFlag, { name: "now", summary: "after a leak: the new key signs at once, no other one stays" }],
    async run(context, args) {
      noWords(args);
      const params = { instance: await instanceOf(context, args) };
      const now = args.on("now");
      const data = await context.api.call(rotateIdentityKey, { params, body: now ? { now } : {} });
      const apiKeys = (data.ended ?? []).filter(({ use }) => use === "api").length;
      const again = apiKeys === 0 ? "" : `\n${apiKeys} of them for the API alone: identity key create makes new ones`;
      const next = now
        ? `it signs from now on; every other key has ended${again}`
        : `give it to your servers, then run: berth identity key promote --instance ${params.instance}`;
      return answer(context, data, () => `${data.secret_key}\n${data.id}, ${once}\n${next}`);
    },
  },
  {
    name: "promote",
    summary: "let the staged key sign; the one before is accepted for a while longer",
    usage: ["identity key promote [--instance ID] [--overlap TIME]"],
    flags: [instanceFlag, { name: "overlap", value: "TIME", summary: "how long the old key is accepted (24h)" }],
    async run(context, args) {
      noWords(args);
      const params = { instance: await instanceOf(context, args) };
      const body = present({ overlap: args.value("overlap") });
      const data = await context.api.call(promoteIdentityKey, { params, body });
      return answer(context, data, () => {
        const { previous } = data;
        const until =
          previous?.expires_at === undefined ? "" : `, ${previous.id} is accepted until ${previous.expires_at}`;
        return `${data.signing.id} signs from now on${until}`;
      });
    },
  },
  {
    name: "delete",
    summary: "end a key at once; not the one that signs",
    usage: ["identity key delete KEY_ID [--instance ID] [-y]"],
    flags: [instanceFlag, yesFlag],
    async run(context, args) {
      const key = oneWord(args, "which key: its id");
      const params = { instance: await instanceOf(context, args), key };
      const { keys } = await context.api.call(listIdentityKeys, { params });
      requireKnown(key, { what: "key", names: keys.map(({ id }) => id), see: "berth identity key list" });
      await assent(`end key ${key}? who uses it is refused at once`, args, context);
      const data = await context.api.call(deleteIdentityKey, { params });
      return answer(context, data, () => `ended key ${key}`);
    },
  },
];
