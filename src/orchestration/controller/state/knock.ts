/** Resolves when a TCP port takes a connection, which is closed at once; rejects with the reason, or when `limit` aborts. */
export type Knock = (at: { host: string; port: number }, limit: AbortSignal) => Promise<void>;

export const knock: Knock = async ({ host, port }, limit) => {
  limit.throwIfAborted();
  const opened = Promise.withResolvers<void>();
  // A refusal arrives twice, here and from `connect`: no code waits for this one then.
  opened.promise.catch(() => undefined);
  const connecting = Bun.connect({
    hostname: host,
    port,
    socket: {
      open: () => opened.resolve(),
      error: (_socket, error) => opened.reject(error),
      connectError: (_socket, error) => opened.reject(error),
      data: () => undefined,
    },
  });
  limit.addEventListener("abort", () => opened.reject(limit.reason), { once: true });
  connecting.catch((error: unknown) => opened.reject(error));
  try {
    await opened.promise;
  } finally {
    // Also one that opens after the limit.
    connecting.then((socket) => socket.terminate()).catch(() => undefined);
  }
};

/** Why an attempt to connect failed, in words. */
export function refusalText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED" || code === "ConnectionRefused") return "connection refused";
  return error instanceof Error ? error.message : String(error);
}
