import { Failure } from "../../../base/wire/failure.ts";
import { podNameOk } from "../../core/identity.ts";
import type { LogOptions } from "../../engine/session.ts";
import type { Context } from "../state/context.ts";

/**
 * Output of any container of the machine. Fails `invalid` for a bad name, `not_found` for a missing container and
 * `unavailable` without the engine, all before the first byte. No more than one part is read ahead.
 */
export async function podLogs(
  context: Context,
  name: string,
  { signal, ...options }: LogOptions & { signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array>> {
  if (!podNameOk(name)) throw new Failure("invalid", `bad pod name "${name}"`);
  context.link.require();
  return context.logReaders.reading(name, signal, async () => {
    // A silent pod must not hold up the answer, so whether it is there is asked beforehand.
    if (options.follow) await requireContainer(context, name);
    const bytes = context.engine.logs(context.engine.named(name), options, signal);
    return options.follow ? bytes : begun(bytes);
  });
}

async function requireContainer({ engine }: Context, name: string): Promise<void> {
  if ((await engine.inspect(engine.named(name))) === undefined)
    throw new Failure("not_found", `no container "${name}"`);
}

/** The same once its first part is there: what is wrong shows before that. */
async function begun(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const parts = bytes[Symbol.asyncIterator]();
  const first = await parts.next();
  return (async function* () {
    try {
      for (let part = first; !part.done; part = await parts.next()) yield part.value;
    } finally {
      await parts.return?.();
    }
  })();
}
