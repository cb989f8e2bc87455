import { naming } from "../../orchestration/core/naming.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** What a call is known by. */
interface Call {
  /** As the program was called: a name, or a path. */
  argv0: string;
  variables: Variables;
  /** The prefix of the installation on this machine; it is asked only where the name is not our own. */
  installed: () => Promise<string | undefined>;
}

/**
 * The prefix of the installation, where this program was called under that name: then its words are those of the
 * contract's own client, typed here or sent over ssh. Undefined under any other name, such as that of a copy.
 */
export async function calledAs({ argv0, variables, installed }: Call): Promise<string | undefined> {
  const name = argv0.slice(argv0.lastIndexOf("/") + 1);
  if (name === "berth" || !/^[a-z][a-z0-9-]{0,30}$/.test(name)) return undefined;
  if (isForwarded(name, variables)) return name;
  return (variables.BERTH_PREFIX || (await installed())) === name ? name : undefined;
}

/** Whether that client, on another machine, sent these words over ssh: it has asked what there was to ask. */
export function isForwarded(prefix: string, variables: Variables): boolean {
  const { envPrefix } = naming(prefix);
  return [`${envPrefix}_ARGV_REWRITTEN`, `${envPrefix}_PROTOCOL`].some((name) => (variables[name] ?? "") !== "");
}
