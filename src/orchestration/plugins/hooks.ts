import { statSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { hiding } from "../core/plugins/own-environment.ts";
import type { Ending, Host } from "./host.ts";

interface HookRun {
  host: Pick<Host, "run">;
  id: string;
  hook: "install" | "uninstall";
  yml: PluginYml;
  /** Folder of the package, absolute. */
  folder: string;
  /** What every plugin gets, without what its plugin.yml adds. */
  env: Readonly<Record<string, string>>;
  /** What this plugin alone is given. */
  own: Readonly<Record<string, string>>;
  /** Values of `own` of so many characters are replaced in what the hook says. */
  hiddenFrom: number;
  /** `BERTH`. */
  envPrefix: string;
  /** As whom; the server's own user where it is left out. */
  user?: number | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onLine?: ((line: string) => void) | undefined;
}

/** Lines of a failed hook's output that are shown; the whole is in the progress. */
const shownLines = 8;

/** Both outputs become one, in the order in which they were written. */
const merged = ["/bin/sh", "-c", 'exec "$0" "$@" 1>&2'];

/**
 * Runs `install` or `uninstall` of a package, where it has one: argv is the hook and the plugin's name, the package is
 * its folder, HOME and TMPDIR, and there is no input. Fails `invalid` with the last lines of a hook that failed.
 */
export async function runHook(run: HookRun): Promise<void> {
  const { hook, yml, folder, envPrefix } = run;
  const program = join(folder, hook);
  if (!hasHook(folder, hook)) return;
  run.onLine?.(`running the ${hook} hook of ${yml.name}`);
  const { DOCKER_HOST, ...others } = run.env;
  const isGranted = DOCKER_HOST !== undefined && yml.permissions?.docker !== false;
  const given = isGranted ? { ...others, DOCKER_HOST } : others;
  const hide = hiding(Object.values(run.own), run.hiddenFrom);
  const { onLine } = run;
  const env = {
    ...given,
    ...yml.env,
    ...run.own,
    [`${envPrefix}_PLUGIN_DIR`]: folder,
    HOME: folder,
    TMPDIR: folder,
  };
  const { ending, stderr } = await run.host.run({
    id: run.id,
    argv: [...merged, program, yml.name],
    user: run.user,
    folder,
    env,
    stdin: undefined,
    timeoutMs: run.timeoutMs,
    signal: run.signal,
    onLine: onLine === undefined ? undefined : (line) => onLine(hide(line)),
  });
  if (ending.how === "exited" && ending.code === 0) return;
  const said = hide(stderr).trimEnd().split("\n").slice(-shownLines).join("\n");
  throw new Failure(
    "invalid",
    `the ${hook} hook of "${yml.name}" ${endingText(ending)}${said === "" ? "" : `:\n${said}`}`,
  );
}

export function hasHook(folder: string, hook: HookRun["hook"]): boolean {
  return statSync(join(folder, hook), { throwIfNoEntry: false })?.isFile() === true;
}

function endingText(ending: Ending): string {
  if (ending.how === "exited") return `failed with exit code ${ending.code}`;
  if (ending.how === "signalled") return `was ended by ${ending.signal}`;
  if (ending.how === "out_of_memory") return "used more memory than a run may, and was ended";
  if (ending.how === "flooded") return `wrote too much to its ${ending.stream}`;
  return ending.how === "timed_out" ? "did not come to an end in time" : "was interrupted";
}
