import { createFrameReader, encodeFrame, frameTypes } from "../../orchestration/api/exec-frames.ts";
import { broke, dialServer, openSession, type SessionAnswer, type SessionCall } from "../session/open-session.ts";
import type { ClientSocket } from "../basics/client-socket.ts";
import { CommandFailure } from "../basics/failures.ts";

/** Sends an archive to a pod; resolves when all of it is there. Fails with what the server says. */
export async function sendArchive(call: SessionCall, archive: AsyncIterable<Uint8Array>): Promise<void> {
  const server = await dialServer(call);
  const stop = () => server.terminate();
  call.signal.addEventListener("abort", stop, { once: true });
  try {
    const answer = await openSession(call, server);
    const over = { value: false };
    const ended = untilExit(answer).finally(() => {
      over.value = true;
    });
    // A refusal in the middle is what counts, and not that sending failed because of it.
    await Promise.all([ended, sendParts(server, archive, () => over.value)]);
  } finally {
    call.signal.removeEventListener("abort", stop);
    server.terminate();
  }
}

async function sendParts(server: ClientSocket, archive: AsyncIterable<Uint8Array>, isOver: () => boolean) {
  for await (const part of archive) {
    if (isOver()) return;
    await server.send(encodeFrame(frameTypes.stdin, part));
  }
  await server.send(encodeFrame(frameTypes.stdin, new Uint8Array(0)));
}

async function untilExit({ first, chunks }: SessionAnswer): Promise<void> {
  const reader = createFrameReader();
  for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = (await chunks.next()).value) {
    const { frames, fault } = reader.push(chunk);
    for (const { type, payload } of frames) {
      if (type === frameTypes.exit) return;
      if (type === frameTypes.error) throw new CommandFailure(new TextDecoder().decode(payload));
    }
    if (fault !== undefined) throw new CommandFailure(fault);
  }
  throw broke("before all of the copy was there");
}
