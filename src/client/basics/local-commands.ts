/**
 * Commands that work on the machine itself: they are given their words as they are. `unless`: with none or one of these as
 * the next word, it is a command of the client. `unlessFlags`: so it is with one of these among its words.
 */
export const localCommands = [
  { name: "serve", summary: "run the server" },
  { name: "doctor", summary: "check this machine and say how to fix what is wrong" },
  { name: "server", summary: "install, upgrade, remove or look at the server of this machine" },
  { name: "move", summary: "move the server of this machine to another one" },
  { name: "self-update", summary: "replace this program by the latest release" },
  {
    name: "backup",
    summary: "write all state to a file",
    unless: [
      "target",
      "now",
      "list",
      "runs",
      "restore",
      "restores",
      "drill",
      "drills",
      "key",
      "repair",
      "carry-over",
      "take-over",
    ],
  },
  { name: "receive-pack", summary: "take a git push and deploy it: run by git over ssh" },
  { name: "git-branch", summary: "show or set the branch whose push is deployed, on the server" },
  { name: "upload-pack", summary: "send what was pushed: run by git over ssh" },
  { name: "read-source", summary: "read the source of an app in a process of its own: run by the server" },
  { name: "copy-logs", summary: "copy stored logs, metrics and traces: run by the server" },
  { name: "name-server", summary: "answer lookups of containers: run by the server" },
  { name: "hooks secret", summary: "print the secret that receivers check webhooks with" },
  { name: "plugins init", summary: "write a first plugin that works" },
  { name: "plugins lint", summary: "check a plugin that you are writing" },
  { name: "plugins test", summary: "run the tests of a plugin that you are writing" },
  { name: "restore", summary: "bring back the state of a backup", unless: [], unlessFlags: ["--manifests", "--at"] },
] as const;

export type LocalName = (typeof localCommands)[number]["name"];
