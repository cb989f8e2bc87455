import type { Command, Verb } from "../shell/command.ts";
import { withListing } from "../shell/listing.ts";
import { fileVerbs } from "./table-files.ts";
import { watchVerbs } from "./table-watch.ts";

/** In the order of the help. Each is loaded when it is used: starting takes as long as what is loaded. */
export const verbs: readonly Verb[] = [
  {
    name: "apply",
    summary: "deploy what manifest files say",
    load: async () => (await import("../commands/apply.ts")).applyCommand,
  },
  {
    name: "diff",
    summary: "show what apply would change, and change nothing",
    load: async () => (await import("../commands/diff.ts")).diffCommand,
  },
  ...fileVerbs,
  {
    name: "init",
    summary: "look at a folder with source, and write its first manifest",
    load: async () => (await import("../commands/init.ts")).initCommand,
  },
  {
    name: "up",
    summary: "build and deploy what the manifests of this folder say, and print where it is",
    load: async () => (await import("../commands/up.ts")).upCommand,
  },
  {
    name: "build",
    summary: "build images from source, and deploy nothing",
    load: async () => (await import("../commands/build.ts")).buildCommand,
  },
  {
    name: "status",
    summary: "show on one screen whether everything is well",
    load: async () => (await import("../commands/status.ts")).statusCommand,
  },
  {
    name: "get",
    summary: "list resources or pods, with status and reason",
    load: async () => (await import("../commands/get.ts")).getCommand,
  },
  {
    name: "describe",
    summary: "show one resource or pod: state, reasons, pods, spec",
    load: async () => (await import("../commands/describe.ts")).describeCommand,
  },
  {
    name: "ps",
    summary: "list pods with their age, restarts and readiness",
    load: async () => (await import("../commands/ps.ts")).psCommand,
  },
  {
    name: "logs",
    summary: "show the output of pods",
    load: async () => (await import("../commands/logs.ts")).logsCommand,
  },
  {
    name: "domains",
    summary: "list, add and remove the domains of apps, with the DNS records that they need",
    load: async () => (await import("../commands/domains.ts")).domainsCommand,
  },
  {
    name: "open",
    summary: "open the address of an app in a browser",
    load: async () => (await import("../commands/open.ts")).openCommand,
  },
  {
    name: "exec",
    summary: "run a command in a pod",
    load: async () => (await import("../commands/exec.ts")).execCommand,
  },
  {
    name: "cp",
    summary: "copy files and folders to and from a pod",
    load: async () => (await import("../commands/cp.ts")).cpCommand,
  },
  {
    name: "port-forward",
    summary: "lead ports of this machine to ports of a pod",
    load: async () => (await import("../commands/port-forward.ts")).portForwardCommand,
  },
  {
    name: "stats",
    summary: "show the CPU and memory that pods use",
    load: async () => (await import("../commands/stats.ts")).statsCommand,
  },
  {
    name: "top",
    summary: "watch the CPU and memory that pods use, the busiest first",
    load: async () => (await import("../commands/top.ts")).topCommand,
  },
  {
    name: "why",
    summary: "show why something died or did not come up, and what to type next",
    load: async () => (await import("../commands/why.ts")).whyCommand,
  },
  {
    name: "alerts",
    summary: "list what is wrong, choose what is watched, and where alerts are sent to",
    load: async () => (await import("../commands/alerts.ts")).alertsCommand,
  },
  {
    name: "incidents",
    summary: "list what went wrong, how long it took and what it cost, with one timeline of each",
    load: async () => (await import("../commands/incidents.ts")).incidentsCommand,
  },
  {
    name: "budget",
    summary: "show how long apps may be down in a month, and what was spent on what",
    load: async () => (await import("../commands/budget.ts")).budgetCommand,
  },
  ...watchVerbs,
  {
    name: "traces",
    summary: "list what apps did for a request, span by span",
    load: async () => (await import("../commands/traces.ts")).tracesCommand,
  },
  {
    name: "drains",
    summary: "send the output of pods to syslog, HTTP or S3",
    load: async () => (await import("../commands/drains.ts")).drainsCommand,
  },
  {
    name: "events",
    summary: "show who did what, when and why",
    load: async () => (await import("../commands/events.ts")).eventsCommand,
  },
  {
    name: "hooks",
    summary: "show the webhook calls of a resource and how they went",
    load: async () => (await import("../commands/hooks.ts")).hooksCommand,
  },
  {
    name: "delete",
    summary: "delete resources, with --prune also their config, files and volumes",
    load: async () => (await import("../commands/delete.ts")).deleteCommand,
  },
  {
    name: "config",
    summary: "set, read and unset the configuration of a scope or an app",
    load: async () => (await import("../commands/config.ts")).configCommand,
  },
  {
    name: "env",
    summary: "write config to a .env file, or set it from one",
    load: async () => (await import("../commands/env.ts")).envCommand,
  },
  {
    name: "scale",
    summary: "set how many replicas run",
    load: async () => (await import("../commands/scale.ts")).scaleCommand,
  },
  {
    name: "lock",
    summary: "refuse changes of a scope or an app for now",
    load: async () => (await import("../commands/locks.ts")).lockCommand,
  },
  {
    name: "unlock",
    summary: "take changes again",
    load: async () => (await import("../commands/locks.ts")).unlockCommand,
  },
  {
    name: "locks",
    summary: "list what is locked, by whom and why",
    load: async () => (await import("../commands/locks.ts")).locksCommand,
  },
  {
    name: "restart",
    summary: "replace the containers of a deployment or statefulset, one after another",
    load: async () => (await import("../commands/restart.ts")).restartCommand,
  },
  {
    name: "release",
    summary: "run the release commands of a deployment, then replace its containers",
    load: async () => (await import("../commands/release.ts")).releaseCommand,
  },
  {
    name: "releases",
    summary: "list the releases of a deployment or statefulset, newest first",
    load: async () => (await import("../commands/releases.ts")).releasesCommand,
  },
  {
    name: "rollout",
    summary: "show, pause, resume, promote or abort the rollout of a release",
    load: async () => (await import("../commands/rollout.ts")).rolloutCommand,
  },
  {
    name: "rollback",
    summary: "go back to a release that worked, and wait until it is ready",
    load: async () => (await import("../commands/rollback.ts")).rollbackCommand,
  },
  {
    name: "run",
    summary: "run a job now, or a command in a container of its own, and exit with its exit code",
    load: async () => (await import("../commands/run.ts")).runCommand,
  },
  {
    name: "shell",
    summary: "open a shell in a container of its own, with all that an app has",
    load: async () => (await import("../commands/shell.ts")).shellCommand,
  },
  {
    name: "cron",
    summary: "list cron jobs, run one now, look at runs",
    load: async () => (await import("../commands/cron.ts")).cronCommand,
  },
  {
    name: "stop",
    summary: "stop pods and keep them stopped",
    load: async () => (await import("../commands/stop.ts")).stopCommand,
  },
  {
    name: "start",
    summary: "start stopped pods again",
    load: async () => (await import("../commands/start.ts")).startCommand,
  },
  {
    name: "plugins",
    summary: "list, install, update and remove plugins, look at their runs",
    load: async () => (await import("../commands/plugins.ts")).pluginsCommand,
  },
  {
    name: "identity",
    summary: "sign the users of your apps in: apps, keys, providers, users",
    load: async () => (await import("../commands/identity.ts")).identityCommand,
  },
  {
    name: "ui",
    summary: "sign in to the web UI in a browser, with a link that works once",
    load: async () => (await import("../commands/ui.ts")).uiCommand,
  },
  {
    name: "pat",
    summary: "make, list, rotate and revoke tokens for the observability plane",
    load: async () => (await import("../commands/pat.ts")).patCommand,
  },
  {
    name: "people",
    summary: "let people sign in to the web UI, and give them roles",
    load: async () => (await import("../commands/people.ts")).peopleCommand,
  },
  {
    name: "ingress",
    summary: "show what the proxy serves, reload it, stop it",
    load: async () => (await import("../commands/ingress.ts")).ingressCommand,
  },
  {
    name: "certs",
    summary: "list the certificates of ingresses, renew one",
    load: async () => (await import("../commands/certs.ts")).certsCommand,
  },
  {
    name: "ca",
    summary: "print the root certificate of the server's own CA, or trust it",
    load: async () => (await import("../commands/ca.ts")).caCommand,
  },
  {
    name: "explain",
    summary: "print the fields of a kind, of the server's own and of plugins",
    load: async () => (await import("../commands/explain.ts")).explainCommand,
  },
  {
    name: "remote",
    summary: "store the servers that are reached by ssh, choose one, test the way",
    load: async () => (await import("../commands/remote.ts")).remoteCommand,
  },
  {
    name: "preview",
    summary: "list, open and delete branches that run in scopes of their own",
    load: async () => (await import("../commands/preview.ts")).previewCommand,
  },
  {
    name: "git-remote",
    summary: "print the git commands that let git push deploy to a server",
    load: async () => (await import("../commands/git-remote.ts")).gitRemoteCommand,
  },
  {
    name: "tunnel",
    summary: "keep the connection to a remote open, and print its addresses on this machine",
    load: async () => (await import("../commands/tunnel.ts")).tunnelCommand,
  },
  {
    name: "completion",
    summary: "print what completes commands and names in bash, zsh or fish",
    load: async () => (await import("../commands/completion.ts")).completionCommand,
  },
  {
    name: "version",
    summary: "show the versions of this program and of the server",
    load: async () => (await import("../commands/version.ts")).versionCommand,
  },
];

export async function loaded({ name, summary, load }: Verb): Promise<Command> {
  return withListing({ name, summary, ...(await load()) });
}
