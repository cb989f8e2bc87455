import { ApiError } from "../../base/wire/client.ts";
import { getBuildContext, putBuildContext } from "../../orchestration/api/builds.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure } from "../shell/failures.ts";
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
  const send = async (last: boolean) => {
    const bytes = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    const query = { offset: String(sent), last: last ? "true" : undefined };
    try {
      const answer = await context.api.call(putBuildContext, { params: { digest }, query, body: bytes });
      sent = answer.received;
    } catch (error) {
      // A part that was sent again after the connection broke may have arrived the first time.
      if (receivedOf(error) !== sent + bytes.length) throw offsetMoved(error) ?? error;
      sent += bytes.length;
    }
  };
  for await (const chunk of packFolder(folder)) {
    const from = Math.max(0, sent + heldBytes - offset);
    offset += chunk.length;
    if (from >= chunk.length) continue;
    held.push(chunk.subarray(from));
    heldBytes += chunk.length - from;
    if (heldBytes >= partBytes) await send(false);
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
  return new CommandFailure("someone else uploads the same folder now: try again when that is done");
}
