import { Failure } from "../api/failure.ts";
import { podNameOk } from "../core/identity.ts";
import type { LogOptions } from "../runtime/runtime.ts";
import type { Context } from "./context.ts";

/**
 * Output of any container of the machine. Fails `invalid` for a bad name, `not_found` for a missing container and
 * `unavailable` without the engine, all before the first byte. Nothing is read ahead of the consumer.
 */
export async function podLogs(
  context: Context,
  name: string,
  { signal, ...options }: LogOptions & { signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array>> {
  if (!podNameOk(name)) throw new Failure("invalid", `bad pod name "${name}"`);
  context.engine.require();
  const container = await context.runtime.inspect(name);
  if (container === undefined) throw new Failure("not_found", `no container "${name}"`);
  return context.runtime.logs(container.id, options, signal);
}
