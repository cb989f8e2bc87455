import { missingIn, servesDevelopers } from "../../orchestration/core/build/hints/commands.ts";
import type { Process } from "../../orchestration/core/build/procfile.ts";
import { withSignals } from "../../orchestration/core/build/with-signals.ts";
import type { GeneratedBuild, SourceTree } from "../../orchestration/core/build/runtime.ts";

type Hinted = Process & { from: string };

/** What of the processes runs in the image. */
export interface Fitted {
  processes: Hinted[];
  notes: string[];
}

/**
 * The processes that other platforms run, as they run in the image. What a framework starts itself takes the place of a
 * server for developers, of one that is not in the image, and of a file that does not exist.
 */
export function fitProcesses(
  tree: SourceTree,
  processes: readonly Hinted[],
  build: GeneratedBuild | undefined,
): Fitted | { problem: string } {
  const fitted: Fitted = { processes: [], notes: [] };
  for (const process of processes) {
    const { from, type, command } = process;
    const starts = `${type === "web" ? "the start command" : type} of ${from} ("${short(command)}")`;
    const missing = build === undefined ? undefined : missingIn(command, tree);
    if (missing !== undefined && type !== "web") fitted.notes.push(`${starts} starts ${missing}, which does not exist`);
    else if (missing !== undefined) {
      // The image may start nothing else than that.
      const isAll = build?.dockerfile.includes(JSON.stringify(["sh", "-c", withSignals(command)]));
      if (build?.noStart !== undefined || isAll === true)
        return { problem: `${starts} starts ${missing}, which does not exist: correct it` };
      fitted.notes.push(`${starts} is left out, as ${missing} does not exist; what the image starts itself is used`);
      continue;
    }
    const adapted = build?.adapt(command) ?? { command };
    const isForDevelopers =
      "command" in adapted && type === "web" && build !== undefined && servesDevelopers(command, tree);
    if (isForDevelopers && build.noStart === undefined) {
      fitted.notes.push(
        `${starts} is for developers, so ${programOf(build)} is started; to change that, write command`,
      );
      continue;
    }
    if ("command" in adapted) fitted.processes.push({ ...process, command: adapted.command });
    else if (type === "web") fitted.notes.push(`${starts} is not in the image, which starts ${adapted.instead}`);
    else fitted.notes.push(`${starts} is left out, as it is not in the image; to run it, write a Dockerfile`);
  }
  return fitted;
}

function short(command: string): string {
  return command.length > 80 ? `${command.slice(0, 77)}...` : command;
}

/** What the image starts by itself. */
function programOf({ dockerfile, runtime }: GeneratedBuild): string {
  const words = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1];
  try {
    return words === undefined ? runtime : (JSON.parse(words) as string[]).join(" ");
  } catch {
    return runtime;
  }
}
