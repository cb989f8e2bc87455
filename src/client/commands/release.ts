import { createHarmlessBytes } from "../text/harmless-bytes.ts";
import { ApiError } from "../../base/wire/client.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { type Reference, resourceReference } from "../basics/reference.ts";
import { type ReleaseEnd, readRelease } from "../wait/release-stream.ts";

export const releaseCommand: CommandBody = {
  usage: ["release run SCOPE/NAME [--follow]"],
  examples: ["release run shop/web  run the commands again, then replace the containers"],
  detail: [
    "Shows what the commands print as it comes; the last line says how it went. Exits with 0 when the",
    "release succeeded and with 1 when it failed. The release goes on without you; --follow shows it",
    "again.",
  ],
  flags: [{ name: "follow", short: "f", summary: "watch the release that is under way, or the last one" }],
  async run(context, args) {
    const [verb, text, ...more] = args.words;
    if (verb !== "run") throw usageFailure(verb === undefined ? "say: release run SCOPE/NAME" : notAVerb(verb));
    if (text === undefined || more.length > 0) throw usageFailure("release run takes one SCOPE/NAME");
    const reference = resourceReference(text);
    const follow = args.on("follow");
    const end = await show(context, reference, follow).catch((error) => hint(error, text));
    return conclude(context, reference, end);
  },
};

function notAVerb(verb: string): string {
  return `unknown command "release ${verb}": write release run SCOPE/NAME, or releases SCOPE/NAME`;
}

/** With `-o json` stdout is for the envelope, so the output goes to stderr. */
function show(context: Context, { scope, name }: Target, follow: boolean): Promise<ReleaseEnd | undefined> {
  const { stdout, stderr } = context.rawTerminal;
  const [door, write] = [createHarmlessBytes(), context.json ? stderr : stdout];
  return readRelease(context, { scope, name, follow, onBytes: (bytes) => write(door.push(bytes)) });
}

type Target = Reference & { name: string };

function hint(error: unknown, text: string): never {
  if (!(error instanceof ApiError) || error.status !== 409) throw error;
  throw new CommandFailure(`${error.message}\n  watch it: berth release run ${text} --follow`);
}

function conclude(context: Context, { text, name }: Target, end: ReleaseEnd | undefined): number {
  if (end === undefined) {
    const why = context.signal.aborted ? "not watched any more" : "the connection broke off";
    const back = `the release goes on; see how: berth release run ${text} --follow`;
    throw new CommandFailure(`${why}; ${back}`, context.signal.aborted ? exitCodes.interrupted : exitCodes.unreachable);
  }
  const data = { name, release: end.id, status: end.succeeded ? "succeeded" : "failed", end: end.text };
  answer(context, data, () => "");
  return end.succeeded ? exitCodes.done : exitCodes.failed;
}
