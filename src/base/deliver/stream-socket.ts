import { Failure } from "../wire/failure.ts";
import { allowedAddresses, type GuardOptions } from "./address-guard.ts";
import { failureText } from "./failure-text.ts";

interface StreamTarget {
  host: string;
  port: number;
  tls: boolean;
  /** PEM of the authority that is trusted; undefined for those of this machine. */
  ca?: string | undefined;
}

interface StreamOptions extends GuardOptions {
  /** For all of it. */
  limitMs: number;
}

/** Bytes for a server that takes a stream and answers nothing, such as a syslog collector. */
export type SendStream = (target: StreamTarget, bytes: Uint8Array, signal: AbortSignal) => Promise<void>;

/**
 * Connects, sends everything, closes its side, and waits until the other side has closed too: only then was all of it
 * read. Fails `unavailable` when the connection breaks or that takes too long, `forbidden` as the address guard does.
 */
export function createStreamSender(options: StreamOptions): SendStream {
  return async (target, bytes, signal) => {
    const [address] = await allowedAddresses(target.host, options);
    const late = AbortSignal.any([signal, AbortSignal.timeout(options.limitMs)]);
    try {
      await sendAll({ ...target, address: address ?? target.host }, bytes, late);
    } catch (error) {
      if (error instanceof Failure) throw error;
      const why = failureText(error, options.limitMs);
      throw new Failure("unavailable", `${target.host}:${target.port}: ${why}`, { cause: error });
    }
  };
}

async function sendAll(
  { host, address, port, tls, ca }: StreamTarget & { address: string },
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  let isDone = false;
  const push = (socket: { write(bytes: Uint8Array): number; shutdown(): void }) => {
    if (isDone) return;
    sent += Math.max(socket.write(bytes.subarray(sent)), 0);
    if (sent < bytes.length) return;
    isDone = true;
    // Not `end`, which closes both sides at once and loses what the kernel has not sent yet.
    socket.shutdown();
  };
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const connecting = Bun.connect({
    hostname: address,
    port,
    allowHalfOpen: true,
    // The name, because the address is not what the certificate is for.
    ...(tls ? { tls: { serverName: host, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) } } : {}),
    socket: {
      open: (socket) => {
        if (!tls) push(socket);
      },
      handshake(socket, isTrusted, problem) {
        if (isTrusted) push(socket);
        else {
          reject(new Error(problem?.message ?? "its certificate is not trusted"));
          socket.terminate();
        }
      },
      drain: push,
      data: () => undefined,
      end: () => {
        if (isDone) resolve();
      },
      close: (_, error) => {
        if (error !== undefined && error !== null) reject(error);
        else if (isDone) resolve();
        else reject(Object.assign(new Error("cut"), { code: "ConnectionClosed" }));
      },
      error: (_, error) => reject(error),
      connectError: (_, error) => reject(error),
    },
  });
  try {
    // Both settle by what happens to the connection.
    const socket = await Promise.race([connecting, promise.then(() => undefined)]);
    try {
      await promise;
    } finally {
      socket?.terminate();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
