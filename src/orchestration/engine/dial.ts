import { Failure } from "../../base/wire/failure.ts";
import { type Duplex, duplexHandlers } from "../../base/words/duplex.ts";

interface Dialling {
  host: string;
  port: number;
  /** Name of the pod, for messages. */
  name: string;
  highBytes: number;
  limitMs: number;
}

/** Connects to a port of a pod. Fails `conflict` when nothing listens there, `timeout` without an answer. */
export async function dial({ host, port, name, highBytes, limitMs }: Dialling): Promise<Duplex> {
  const opened = Promise.withResolvers<Duplex>();
  const isLate = { value: false };
  const socket = duplexHandlers(highBytes, (duplex) => {
    if (isLate.value) duplex.terminate();
    else opened.resolve(duplex);
  });
  const limit = setTimeout(() => {
    isLate.value = true;
    opened.reject(new Failure("timeout", `port ${port} of ${name} did not answer within ${limitMs / 1000} s`));
  }, limitMs);
  try {
    const options = { hostname: host, port, allowHalfOpen: true, data: undefined, socket };
    Bun.connect(options).catch((error: unknown) => opened.reject(refused(error, { name, port })));
    return await opened.promise;
  } finally {
    clearTimeout(limit);
  }
}

function refused(error: unknown, { name, port }: Pick<Dialling, "name" | "port">): Failure {
  const text = `nothing listens on port ${port} of ${name}; a program that listens on 127.0.0.1 only is reached from inside alone`;
  return new Failure("conflict", text, { cause: error });
}
