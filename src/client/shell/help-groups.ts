/** What an operator wants to do, with the verbs for it. A verb that is in none of them comes under the last heading. */
export const helpGroups: readonly (readonly [heading: string, verbs: readonly string[]])[] = [
  [
    "deploy",
    ["apply", "diff", "up", "build", "init", "rollback", "releases", "release", "rollout", "preview", "delete"],
  ],
  [
    "look",
    [
      "status",
      "get",
      "describe",
      "ps",
      "logs",
      "searches",
      "boards",
      "traces",
      "drains",
      "why",
      "alerts",
      "incidents",
      "budget",
      "events",
      "stats",
      "top",
      "open",
      "hooks",
    ],
  ],
  ["change what runs", ["config", "env", "scale", "restart", "stop", "start", "cron", "lock", "unlock", "locks"]],
  ["work inside an app", ["exec", "shell", "run", "cp", "port-forward"]],
  ["manifest files", ["validate", "fmt", "convert", "import", "export", "schema", "explain"]],
  ["domains, users, plugins", ["domains", "ingress", "certs", "ca", "identity", "people", "plugins"]],
];

export const restHeading = "servers and this program";
