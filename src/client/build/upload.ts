import { ApiError } from "../../base/wire/client.ts";
import { getBuildContext, putBuildContext } from "../../orchestration/api/builds.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure } from "../basics/failures.ts";
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
