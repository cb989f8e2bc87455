import { ApiError } from "../../base/wire/client.ts";
import { buildImage, type BuildRequest, getBuildContext, putBuildContext } from "../../orchestration/api/builds.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { callWithProgress, warn } from "../shell/progress-answer.ts";
import { printable } from "../basics/style.ts";
import { bytesText } from "../text/stats-table.ts";
import type { BuildChoices } from "./build-flags.ts";
import type { PlannedBuild } from "./plan.ts";
import type { SourceFolder } from "./folder.ts";
import { packFolder } from "./pack.ts";

/** Within the bound that the server has for every body. */
const partBytes = 512 * 1024;

/** Sends what the server does not have yet of a folder. */
export async function uploadFolder(context: Context, folder: SourceFolder, digest: string): Promise<void> {
  const state = await context.api.call(getBuildContext, { params: { digest } });
  if (state.complete) return;
  let sent = state.received;
  let offset = 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  /** Sends what is held. True where the server has all of the folder now. */
  const send = async (last: boolean): Promise<boolean> => {
    for (;;) {
      const bytes = Buffer.concat(held);
      const query = { offset: String(sent), last: last ? "true" : undefined };
      try {
        const answer = await context.api.call(putBuildContext, { params: { digest }, query, body: bytes });
        sent = answer.received;
        held = [];
        heldBytes = 0;
        return answer.complete;
      } catch (error) {
        const received = receivedOf(error) ?? 0;
        if (received <= sent) throw offsetMoved(error) ?? error;
        // The same bytes came another way: this part before its connection broke, or somebody else sends the folder too.
        const rest = bytes.subarray(received - sent);
        sent = received;
        held = rest.length > 0 ? [rest] : [];
        heldBytes = rest.length;
        if (rest.length === 0 && !last) return false;
      }
    }
  };
  for await (const chunk of packFolder(folder)) {
    const from = Math.max(0, sent + heldBytes - offset);
    offset += chunk.length;
    if (from >= chunk.length) continue;
    held.push(chunk.subarray(from));
    heldBytes += chunk.length - from;
    if (heldBytes >= partBytes && (await send(false))) return;
  }
  await send(true);
}

/** How much the server has, where it goes on at another byte. */
function receivedOf(error: unknown): number | undefined {
  const { reason, fields } = error instanceof ApiError ? error.data : {};
  return reason === "ContextOffset" ? Number(fields?.received) : undefined;
}

function offsetMoved(error: unknown): CommandFailure | undefined {
  if (!(error instanceof ApiError) || error.data.reason !== "ContextOffset") return undefined;
  return new CommandFailure("the server has lost a part of the folder meanwhile: try again");
}

/** Builds on the server, uploading the folder where it is not there. Shows the output of the build while it runs. */
export async function runBuild(context: Context, planned: PlannedBuild, choices: BuildChoices): Promise<void> {
  const { scope, name, digest, folder } = planned;
  const { terminal } = context;
  const body = requestOf(planned, choices);
  const ask = () =>
    callWithProgress(context, buildImage, {
      input: { body },
      broken: `during the build of ${scope}/${name}: nothing was deployed; run the command again`,
    });
  const build = async () => {
    try {
      return await ask();
    } catch (error) {
      if (!isContextMissing(error)) throw error;
    }
    terminal.note(`uploading ${filesText(planned)} of ${scope}/${name}`);
    await uploadFolder(context, folder, digest).catch((error: unknown) => {
      if (!context.signal.aborted) throw error;
      const next = "nothing was deployed; the same command sends only the rest";
      throw new CommandFailure(`interrupted while uploading ${scope}/${name}: ${next}`, exitCodes.interrupted);
    });
    return await ask();
  };
  try {
    const { build: done, reused } = await build();
    const what = reused ? "is there already: the source has not changed" : "built";
    terminal.note(`${terminal.noteStyle.green("✓")} ${printable(done.image)} ${what}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.data.reason !== "BuildFailed") throw error;
    const text = `the build of ${scope}/${name} failed: ${printable(error.message)}\n  nothing was deployed; the output is above`;
    throw new CommandFailure(text, exitCodes.failed, error.data);
  }
}

/** A field at its default is left out: an older server does not know all of them. */
function requestOf(planned: PlannedBuild, { again, latest, secrets, memory, cpu }: BuildChoices): BuildRequest {
  const { scope, name, digest, dockerfile, target, args, buildkit } = planned;
  const keys = planned.secrets.filter((key) => !Object.hasOwn(secrets, key));
  return {
    scope,
    name,
    context: digest,
    dockerfile,
    args,
    ...(target === undefined ? {} : { target }),
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    ...(keys.length > 0 ? { config_secrets: keys } : {}),
    ...(buildkit ? { buildkit } : {}),
    ...(memory === undefined ? {} : { memory }),
    ...(cpu === undefined ? {} : { cpu }),
    ...(latest ? { latest } : {}),
    ...(again ? { again } : {}),
  };
}

/** What is built, and what the operator should know of it; the secrets of a folder are reported once for all its builds. */
export function announce(context: Context, build: PlannedBuild, all: readonly PlannedBuild[]): void {
  context.terminal.note(`build ${build.scope}/${build.name}:${build.id} from ${filesText(build)}`);
  const first = all.find(({ folder }) => folder.root === build.folder.root);
  warn(context, [...runtimeNotes(build), ...(first === build ? [...secretNotes(build), ...lfsNotes(build)] : [])]);
}

/** `12 files, 34 kB (rules of .gitignore)`. */
function filesText({ folder }: PlannedBuild): string {
  const { entries, bytes, rules } = folder;
  const count = entries.length === 1 ? "1 file" : `${entries.length} files`;
  return `${count}, ${bytesText(bytes)}${rules === undefined ? "" : ` (without what ${rules} leaves out)`}`;
}

function runtimeNotes({ scope, name, generated }: PlannedBuild): string[] {
  if (generated === undefined) return [];
  const app = `${scope}/${name}`;
  const assumed = generated.notes.map((note) => `${app}: ${printable(note)}`);
  return [
    `${app}: no Dockerfile; built as ${generated.runtime} because of ${printable(generated.because)}`,
    ...assumed,
  ];
}

function secretNotes({ scope, name, folder: { secrets } }: PlannedBuild): string[] {
  if (secrets.length === 0) return [];
  return [`${scope}/${name}: not sent, since they look like secrets: ${someOf(secrets)}; use berth config set`];
}

function lfsNotes({ scope, name, folder: { pointers } }: PlannedBuild): string[] {
  if (pointers.length === 0) return [];
  const what = `only the Git LFS pointers are sent of ${someOf(pointers)}`;
  return [`${scope}/${name}: ${what}; to send the files, run "git lfs pull" in your checkout, then berth up there`];
}

const shownMax = 5;

function someOf(paths: readonly string[]): string {
  const more = paths.length > shownMax ? ` and ${paths.length - shownMax} more` : "";
  return `${paths.slice(0, shownMax).map(printable).join(", ")}${more}`;
}

function isContextMissing(error: unknown): boolean {
  return error instanceof ApiError && error.data.reason === "ContextMissing";
}
