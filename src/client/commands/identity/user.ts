import { readableEmail } from "../../../base/pure/domain-names.ts";
import {
  banIdentityUser,
  createIdentityUser,
  deleteIdentityUser,
  getIdentityUser,
  type IdentityUser,
  listIdentityPairs,
  listIdentityUsers,
  setIdentityPassword,
  unbanIdentityUser,
  verifyIdentityUser,
} from "../../../identity/api/manage/users.ts";
import { ApiError } from "../../../base/wire/client.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { Arguments } from "../../basics/arguments.ts";
import { assent, yesFlag } from "../../shell/ask.ts";
import { answer, type Command, type Context } from "../../shell/command.ts";
import { timeText } from "../../text/time-text.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../basics/failures.ts";
import { listText } from "../../basics/table-text.ts";
import { printable } from "../../basics/style.ts";
import { didYouMean } from "../../basics/suggest.ts";
import { noWords, oneWord } from "../../shell/words.ts";
import { instanceFlag, instanceOf, moreText, pageFlags, secretValue, table } from "./shared.ts";
import { rowsOf } from "../../shell/listing.ts";

const who = "USER is an id, or an address.";

export const userCommands: readonly Command[] = [
  {
    name: "create",
    summary: "make a user",
    usage: ["identity user create [--instance ID] --email E [--name N] [--password P]"],
    flags: [
      instanceFlag,
      { name: "email", value: "E", summary: "address" },
      { name: "name", value: "N", summary: "name that is shown" },
      { name: "password", value: "P", summary: "- reads it from stdin" },
      { name: "avatar-url", value: "URL", summary: "picture" },
      { name: "unverified", summary: "the address is not proven" },
    ],
    async run(context, args) {
      noWords(args);
      const email = args.value("email");
      if (email === undefined) throw usageFailure("say the address: --email E");
      const body = {
        email,
        name: args.value("name"),
        password: await secretValue(args, "password", context),
        avatar_url: args.value("avatar-url"),
        email_verified: args.on("unverified") ? false : undefined,
      };
      const query = { instance: await instanceOf(context, args) };
      const data = await context.api.call(createIdentityUser, { query, body });
      return answer(context, data, () => `made user ${data.id}`);
    },
  },
  {
    name: "list",
    summary: "list the users of an instance, newest first",
    usage: ["identity user list [--instance ID] [-n N]"],
    lists: rowsOf("users", "id"),
    flags: [instanceFlag, ...pageFlags],
    async run(context, args) {
      noWords(args);
      return list(context, args, undefined);
    },
  },
  {
    name: "search",
    summary: "find users of an instance",
    usage: ["identity user search QUERY… [--instance ID] [-n N]"],
    lists: rowsOf("users", "id"),
    detail: [
      "QUERY is tokens such as email:ana@shop.test, name:*silva*, created_at>2026-01-01, -email:*@a.test.",
      "Put -- before a query that begins with a dash.",
    ],
    flags: [instanceFlag, ...pageFlags],
    async run(context, args) {
      if (args.words.length === 0) throw usageFailure("say what to look for, such as email:*@shop.test");
      return list(context, args, args.words.join(" "));
    },
  },
  {
    name: "pairs",
    summary: "list users with one mailbox, whose addresses earlier versions stored in two forms",
    usage: ["identity user pairs [--instance ID]"],
    lists: rowsOf("pairs", "email"),
    detail: [
      "An address such as ana@münchen.de has one form today (ana@xn--mnchen-3ya.de). Sign-ins by address",
      "lead to HOLDER; OTHER can sign in through a provider only. Nothing merges them: delete the wrong",
      "one, and the other one has the address.",
    ],
    flags: [{ ...instanceFlag, summary: "instance (default: all)" }],
    async run(context, args) {
      noWords(args);
      const data = await context.api.call(listIdentityPairs, { query: { instance: args.value("instance") } });
      return answer(context, data, () => pairsText(data, context));
    },
  },
  {
    name: "show",
    summary: "show a user",
    usage: ["identity user show USER [--instance ID]"],
    detail: [who],
    flags: [instanceFlag],
    async run(context, args) {
      const data = await context.api.call(getIdentityUser, await target(context, args));
      return answer(context, data, () => userText(data));
    },
  },
  {
    name: "ban",
    summary: "lock a user out and end all sessions at once",
    usage: ["identity user ban USER [--instance ID]"],
    detail: [who],
    flags: [instanceFlag],
    async run(context, args) {
      const data = await context.api.call(banIdentityUser, await target(context, args));
      return answer(context, data, () => `banned ${readableEmail(data.email)}, ${ended(data.sessions_revoked)}`);
    },
  },
  {
    name: "unban",
    summary: "let a banned user in again",
    usage: ["identity user unban USER [--instance ID]"],
    detail: [who],
    flags: [instanceFlag],
    async run(context, args) {
      const data = await context.api.call(unbanIdentityUser, await target(context, args));
      return answer(context, data, () => `${readableEmail(data.email)} may sign in again`);
    },
  },
  {
    name: "verify",
    summary: "count the address of a user as proven: you vouch that the user owns it",
    usage: ["identity user verify USER [--instance ID]"],
    detail: [who, "The present password stays: be sure that it is the owner's."],
    flags: [instanceFlag],
    async run(context, args) {
      const data = await context.api.call(verifyIdentityUser, await target(context, args));
      return answer(context, data, () => `the address ${readableEmail(data.email)} is verified`);
    },
  },
  {
    name: "set-password",
    summary: "set a password, or take it away, and end all sessions",
    usage: [
      "identity user set-password USER [--instance ID] --password P",
      "identity user set-password USER [--instance ID] --none",
    ],
    detail: [who],
    flags: [
      instanceFlag,
      { name: "password", value: "P", summary: "- reads it from stdin" },
      { name: "none", summary: "no sign-in with a password any more" },
    ],
    async run(context, args) {
      const password = await secretValue(args, "password", context);
      if ((password === undefined) !== args.on("none")) throw usageFailure("say --password P, or --none");
      const body = password === undefined ? {} : { password };
      const data = await context.api.call(setIdentityPassword, { ...(await target(context, args)), body });
      const done = password === undefined ? "has no password any more" : "has a new password";
      return answer(context, data, () => `${readableEmail(data.email)} ${done}, ${ended(data.sessions_revoked)}`);
    },
  },
  {
    name: "delete",
    summary: "delete a user with identities and sessions",
    usage: ["identity user delete USER [--instance ID] [-y]"],
    detail: [who],
    flags: [instanceFlag, yesFlag],
    async run(context, args) {
      const user = await target(context, args);
      const known = await context.api.call(getIdentityUser, user).catch(nearUser(context, user));
      await assent(
        `delete user ${printable(readableEmail(known.email))} with all sessions? it cannot be undone`,
        args,
        context,
      );
      const data = await context.api.call(deleteIdentityUser, user);
      return answer(context, data, () => `deleted user ${data.id}`);
    },
  },
];

/** Adds the nearest address to an answer that there is no such user. */
function nearUser({ api }: Context, { params, query }: Awaited<ReturnType<typeof target>>) {
  return async (error: unknown): Promise<never> => {
    if (!(error instanceof ApiError) || error.status !== 404 || query.instance === undefined) throw error;
    const { users } = await api.call(listIdentityUsers, { query });
    const near = didYouMean(
      params.user,
      users.map(({ email }) => readableEmail(email)),
    );
    throw new CommandFailure(printable(`${error.message}${near}`), exitCodes.failed, error.data);
  };
}

async function target(context: Context, args: Arguments) {
  const user = oneWord(args, "which user: an id or an address");
  // An id is one of a kind; only an address needs its instance.
  const instance = user.includes("@") ? await instanceOf(context, args) : args.value("instance");
  return { params: { user }, query: { instance } };
}

async function list(context: Context, args: Arguments, query: string | undefined): Promise<number> {
  const page = { query, limit: args.value("limit"), cursor: args.value("cursor") };
  const instance = await instanceOf(context, args);
  const data = await context.api.call(listIdentityUsers, { query: { instance, ...page } });
  return answer(context, data, () => `${usersText(data.users, context)}${moreText(data.next)}`);
}

function usersText(users: readonly IdentityUser[], context: Context): string {
  if (users.length === 0) return "no users";
  const rows = users.map((user) => [
    user.id,
    readableEmail(user.email),
    user.name,
    user.banned_at === undefined ? (user.email_verified ? "verified" : "unverified") : "banned",
    user.providers.join(",") || "-",
    timeText(user.created_at),
  ]);
  return table(["ID", "EMAIL", "NAME", "STATE", "PROVIDERS", "CREATED"], rows, context);
}

function pairsText({ pairs, more }: DataOf<typeof listIdentityPairs>, context: Context): string {
  if (pairs.length === 0) return "every mailbox has one user";
  const rows = pairs.map(({ email, holder, other }) => [
    email,
    other.instance,
    holder?.id ?? "-",
    other.id,
    other.email,
  ]);
  const head = ["MAILBOX", "INSTANCE", "HOLDER", "OTHER", "STORED AS"];
  return `${table(head, rows, context)}${more ? "\nthere are more: these are the first" : ""}`;
}

function userText(user: IdentityUser): string {
  const readable = readableEmail(user.email);
  const email = readable === user.email ? readable : `${readable} (${user.email})`;
  const rows = Object.entries({ ...user, email }).map(([name, value]) => {
    return [name, printable(Array.isArray(value) ? value.join(", ") : String(value ?? "-"))];
  });
  return listText(rows);
}

function ended(sessions: number): string {
  return sessions === 1 ? "ended 1 session" : `ended ${sessions} sessions`;
}
