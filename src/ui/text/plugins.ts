import type { InstallOutcome, PluginInfo, PluginPreview } from "../../orchestration/api/plugins.ts";

type Permissions = PluginInfo["permissions"];

/** One consequence of an install; `ends`: it gives a plugin power over the machine. */
interface Consequence {
  text: string;
  ends?: boolean;
}

/** What would be installed, where that was asked for. */
export function previewOf(outcome: InstallOutcome): PluginPreview | undefined {
  return "preview" in outcome ? outcome : undefined;
}

/** What a plugin may do, in a line. */
export function grantText({ actions, scopes, docker, root, backup, server_env: names = [] }: Permissions): string {
  const where = scopes.includes("*") ? "in every scope" : `in ${scopes.join(", ") || "no scope"}`;
  const what = actions.length === 0 ? "changes nothing by itself" : `${actions.join(", ")} ${where}`;
  const more = [
    docker ? "uses the container engine" : "",
    root === false ? "" : "runs as the server's user",
    backup === true ? "backs up its blocks by commands in their pods" : "",
    readsText(names),
  ];
  return [what, ...more.filter((text) => text !== "")].join("; ");
}

function readsText(names: readonly string[]): string {
  return names.length === 0 ? "" : `reads ${names.join(", ")} of the server's environment`;
}

/** What an install or an update brings in, before it is done. */
export function previewConsequences(preview: PluginPreview): Consequence[] {
  const { name, version, grant, full_grant: full, hooks, warnings, more = [], replaces, commit } = preview;
  const shown = `${name} ${version || "without a version"}`;
  return [
    {
      text:
        replaces === undefined
          ? `${shown} is installed${commit === undefined ? "" : ` from commit ${commit.slice(0, 12)}`}`
          : `${shown} takes the place of ${replaces.version || "what is there"} (${replaces.origin})`,
    },
    { text: `It may: ${grantText({ ...grant, root: false, docker: false })}` },
    ...(more.length === 0 ? [] : [{ text: `New permissions: ${more.join(", ")}`, ends: true }]),
    ...(grant.docker
      ? [{ text: "It uses the container engine, so it can do everything on this machine", ends: true }]
      : []),
    !grant.docker && grant.root === false
      ? { text: "It runs as a user of its own, who can read nothing of the server's" }
      : { text: "It runs as the user of the server, so it can read every secret", ends: true },
    ...(full ? [{ text: "It names no permissions, so it gets all of them", ends: true }] : []),
    ...hooks.map((hook) => ({ text: `Its ${hook} hook runs now` })),
    ...warnings.map((text) => ({ text: `Warning: ${text}`, ends: true })),
  ];
}
