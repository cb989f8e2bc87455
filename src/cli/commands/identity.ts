import type { Command } from "../command.ts";
import { usageFailure } from "../failures.ts";
import { appCommands } from "./identity/app.ts";
import { auditCommand } from "./identity/audit.ts";
import { compatCommand } from "./identity/compat.ts";
import { exportCommand } from "./identity/export.ts";
import { hookCommands } from "./identity/hook.ts";
import { importCommand } from "./identity/import.ts";
import { instanceCommands } from "./identity/instance.ts";
import { keyCommands } from "./identity/key.ts";
import { mailCommands } from "./identity/mail.ts";
import { providerCommands } from "./identity/provider.ts";
import { quickstartCommand } from "./identity/quickstart.ts";
import { sessionCommands } from "./identity/session.ts";
import { userCommands } from "./identity/user.ts";

/** A command that is only the way to narrower ones. */
function group(name: string, path: string, summary: string, commands: readonly Command[]): Command {
  const names = commands.map((command) => command.name).join(", ");
  return {
    name,
    summary,
    usage: [],
    detail: [`berth ${path} COMMAND --help says more.`],
    flags: [],
    commands,
    run: () => Promise.reject(usageFailure(`say what to do: ${path} ${names}`)),
  };
}

const nouns = [
  quickstartCommand,
  group("app", "identity app", "apps whose users are signed in", appCommands),
  group(
    "instance",
    "identity instance",
    "instances of an app: users, keys and settings of their own",
    instanceCommands,
  ),
  group("key", "identity key", "keys of an instance, and their rotation", keyCommands),
  group("provider", "identity provider", "what an instance signs in with", providerCommands),
  group("user", "identity user", "users of an instance", userCommands),
  group("session", "identity session", "sessions of an instance", sessionCommands),
  group("mail", "identity mail", "mails that the service has written", mailCommands),
  group("hook", "identity hook", "webhooks that are told what happens", hookCommands),
  auditCommand,
  compatCommand,
  importCommand,
  exportCommand,
];

export const identityCommand: Command = group(
  "identity",
  "identity",
  "sign the users of your apps in: apps, keys, providers, users",
  nouns,
);
