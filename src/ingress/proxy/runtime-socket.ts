import { connect } from "node:net";
import { Failure } from "../../base/wire/failure.ts";

/** Commands to a running HAProxy over its unix socket. */
export interface RuntimeSocket {
  /**
   * Sends one command, as `socketText` writes it, on a connection of its own, and resolves with the whole answer.
   * Fails `unavailable` when nothing listens or no answer comes in time.
   */
  ask(text: string): Promise<string>;
}

/** Longest answer that is kept; a list of all servers of 10,000 sites is about 2 MB. */
const answerBytesMax = 64 * 1024 * 1024;

export function createRuntimeSocket({ path, timeoutMs }: { path: string; timeoutMs: number }): RuntimeSocket {
  return {
    ask: (text) =>
      new Promise((resolve, reject) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        const socket = connect({ path, allowHalfOpen: true });
        const failed = (why: string, cause?: unknown) => {
          socket.destroy();
          reject(new Failure("unavailable", `the ingress proxy does not answer on ${path}: ${why}`, { cause }));
        };
        socket.setTimeout(timeoutMs, () => failed(`no answer within ${timeoutMs} ms`));
        // Without the end of what is said, the master goes on waiting for more.
        socket.on("connect", () => socket.end(text));
        socket.on("data", (part: Buffer) => {
          bytes += part.length;
          if (bytes > answerBytesMax) failed("the answer is too long");
          else parts.push(part);
        });
        socket.on("error", (error) => failed(error.message, error));
        socket.on("close", () => resolve(Buffer.concat(parts).toString("utf8")));
      }),
  };
}

/** Whether an answer says that the command was carried out. Most commands that succeed answer with an empty line. */
export function isDone(answer: string): boolean {
  const text = answer.trim();
  return (
    text === "" ||
    /^(?:New server registered|New empty certificate store|New version created|Transaction (?:created|updated) for certificate|Server deleted)/m.test(
      text,
    ) ||
    /Success!?$/.test(text) ||
    /(?:Certificate|Entry) '.*' (?:deleted|in crtlist '.*' deleted)/.test(text)
  );
}

/** Whether an answer says that the server that should be added is there already. */
export function isThere(answer: string): boolean {
  return /^Already exists/im.test(answer);
}

/** Whether an answer says that what should go is not there. */
export function isGone(answer: string): boolean {
  return /No such (?:server|backend)|require 'backend\/server'|not found|unable to delete the certificate|Can't find/i.test(
    answer,
  );
}
