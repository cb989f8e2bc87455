import { usageFailure } from "../basics/failures.ts";
import { didYouMean } from "../basics/suggest.ts";
import { ownName, parseSshAddress } from "./address.ts";
import type { Remote, Remotes } from "./remotes.ts";

/** The servers that a command line is for. */
export type Target =
  | { type: "endpoint"; endpoint: string }
  | { type: "remote"; remote: Remote }
  /** In the order of the file. */
  | { type: "group"; name: string; remotes: readonly Remote[] };

interface Named {
  endpoint?: string;
  remote?: string;
}

/**
 * What is named comes first, then the default of the file, then the server of this machine. `remotes` is only asked
 * for where it matters.
 */
export function chooseTarget(named: Named, ownEndpoint: string, remotes: () => Remotes): Target {
  const own: Target = { type: "endpoint", endpoint: ownEndpoint };
  if (named.endpoint !== undefined && named.remote !== undefined) {
    throw usageFailure(
      `both a remote (${named.remote}) and an endpoint (${named.endpoint}) are given: use one of --remote and --endpoint, or of BERTH_REMOTE and BERTH_ENDPOINT`,
    );
  }
  if (named.endpoint !== undefined) return { type: "endpoint", endpoint: named.endpoint };
  if (named.remote === ownName) return own;
  if (named.remote !== undefined) return namedTarget(named.remote, remotes());
  const { default: standard, list } = remotes();
  const remote = list.find(({ name }) => name === standard);
  return remote === undefined ? own : { type: "remote", remote };
}

/** A remote, a group, or `user@host` of a server that the file does not have. */
function namedTarget(text: string, { list }: Remotes): Target {
  const remote = list.find(({ name }) => name === text);
  if (remote !== undefined) return { type: "remote", remote };
  const members = list.filter(({ groups }) => groups.includes(text));
  if (members.length > 0) return { type: "group", name: text, remotes: members };
  if (text.includes("@")) return { type: "remote", remote: { ...parseSshAddress(text), name: text, groups: [] } };
  const known = [...new Set(list.flatMap(({ name, groups }) => [name, ...groups]))];
  const hint = list.length === 0 ? `; add it with: berth remote add ${text} user@host` : `; see: berth remote list`;
  throw usageFailure(`no remote "${text}"${didYouMean(text, known) || hint}`);
}
