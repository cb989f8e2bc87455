import { Failure } from "../../base/wire/failure.ts";
import type { Engine } from "./engine.ts";
import { type Duplex, duplexHandlers } from "../../base/words/duplex.ts";

/** `Engine.dial` of an engine whose pods are reached by their address from here. */
export function createDial(inspect: Engine["inspect"]): Pick<Engine, "dial"> {
  return {
    async dial(pod, port, options) {
      const detail = await inspect(pod);
      if (detail === undefined) throw new Failure("not_found", `no container "${pod.id}"`);
      const { name, state, address: host } = detail;
      if (state !== "running") throw new Failure("conflict", `${name} does not run: it is ${state}`);
      if (host === undefined) throw new Failure("conflict", `${name} has no address on the platform network`);
      return dial({ host, port, name, ...options });
    },
  };
}

interface Dialling {
  host: string;
  port: number;
  /** Name of the pod, for messages. */
  name: string;
  highBytes: number;
  limitMs: number;
}

/** Connects to a port of a pod. Fails `conflict` when nothing listens there, `timeout` without an answer. */
async function dial({ host, port, name, highBytes, limitMs }: Dialling): Promise<Duplex> {
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
