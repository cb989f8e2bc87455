import { createFrameReader, encodeFrame, type Frame, frameTypes } from "../../orchestration/api/exec-frames.ts";
import type { Duplex } from "../../base/words/duplex.ts";
import { broke, dialServer, openSession, type SessionAnswer, type SessionCall } from "../session/open-session.ts";
import type { ClientSocket } from "../basics/client-socket.ts";
import { CommandFailure } from "../basics/failures.ts";

/**
 * Carries a connection of this machine to a port of a pod until both sides have finished. Fails when the server refuses,
 * or the connection to the pod breaks off; `local` is then broken off too.
 */
export async function carry(local: Duplex, call: SessionCall): Promise<void> {
  const stop = () => local.terminate();
  call.signal.addEventListener("abort", stop, { once: true });
  let server: ClientSocket | undefined;
  try {
    server = await dialServer(call);
    const answer = await openSession(call, server);
    void sendUp(local, server);
    await passDown(local, answer);
  } catch (error) {
    // A local program that went away needs no message.
    const hasLeft = local.broken;
    local.terminate();
    if (!hasLeft) throw error;
  } finally {
    call.signal.removeEventListener("abort", stop);
    server?.terminate();
  }
}

/** A program that breaks off breaks the connection to the pod: without the empty frame it is not taken for an end. */
async function sendUp(local: Duplex, server: ClientSocket): Promise<void> {
  for await (const bytes of local.incoming) await server.send(encodeFrame(frameTypes.stdin, bytes));
  if (local.broken) server.terminate();
  else await server.send(encodeFrame(frameTypes.stdin, new Uint8Array(0)));
}

async function passDown(local: Duplex, { first, chunks }: SessionAnswer): Promise<void> {
  const reader = createFrameReader();
  for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = (await chunks.next()).value) {
    const { frames, fault } = reader.push(chunk);
    for (const frame of frames) if (await takeFrame(local, frame)) return;
    if (fault !== undefined) throw new CommandFailure(fault);
  }
  throw broke("before both sides had finished");
}

/** Whether it was the last one. */
async function takeFrame(local: Duplex, { type, payload }: Frame): Promise<boolean> {
  if (type === frameTypes.error) throw new CommandFailure(new TextDecoder().decode(payload));
  if (type === frameTypes.stdout && payload.length === 0) local.finish();
  else if (type === frameTypes.stdout) await local.write(payload);
  return type === frameTypes.exit;
}
