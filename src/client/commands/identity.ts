import type { Command, CommandBody } from "../shell/command.ts";
import { usageFailure } from "../basics/failures.ts";
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
import { whyIdentityCommand } from "./identity/why.ts";

/** A command that is only the way to narrower ones. */
function group(path: string, commands: readonly Command[]): CommandBody {
  const names = commands.map((command) => command.name).join(", ");
  return {
    usage: [],
    detail: [`berth ${path} COMMAND --help says more.`],
    flags: [],
    commands,
    run: () => Promise.reject(usageFailure(`say what to do: ${path} ${names}`)),
  };
}

function noun(name: string, summary: string, commands: readonly Command[]): Command {
  return { name, summary, ...group(`identity ${name}`, commands) };
}

const nouns = [
  quickstartCommand,
  noun("app", "apps whose users are signed in", appCommands),
  noun("instance", "instances of an app: users, keys and settings of their own", instanceCommands),
  noun("key", "keys of an instance, and their rotation", keyCommands),
  noun("provider", "what an instance signs in with", providerCommands),
  noun("user", "users of an instance", userCommands),
  noun("session", "sessions of an instance", sessionCommands),
  noun("mail", "mails that the service has written", mailCommands),
  noun("hook", "webhooks that report what happens", hookCommands),
  whyIdentityCommand,
  auditCommand,
  compatCommand,
  importCommand,
  exportCommand,
];

export const identityCommand: CommandBody = {
  ...group("identity", nouns),
  examples: [
    "identity quickstart --redirect http://localhost:3000/callback  keys and a sign-in page",
    "identity user list  the users",
    "identity why  why sign-ins failed",
  ],
};
