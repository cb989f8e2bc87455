import { Failure } from "../../../base/wire/failure.ts";
import { type LineSource, mergedLines } from "../../../base/words/merged-lines.ts";
import { podNameOk } from "../../core/identity.ts";
import type { LogOptions } from "../../engine/session.ts";
import type { Target } from "../requests.ts";
import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";
import { matches } from "../state/target.ts";
import { orderedLogs } from "./ordered-logs.ts";
import { byIdentity } from "./pods.ts";

type Reading = LogOptions & { signal: AbortSignal };

/**
 * Output of any container of the machine. Fails `invalid` for a bad name, `not_found` for a missing container and
 * `unavailable` without the engine, all before the first byte. No more than one part is read ahead.
 */
export async function podLogs(
  context: Context,
  name: string,
  { signal, ...options }: Reading,
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

/**
 * Output of all containers of a scope, or of one name in it, line by line with `[CONTAINER] ` in front. Followed, the
 * lines come as they are written, and containers that come later or begin another run join in; else they are in the
 * order of their times. Fails `invalid` without a scope, `not_found` where there is no container and `unavailable`
 * without the engine, all before the first byte. A container that cannot be read says so in a line of its own.
 */
export async function scopeLogs(
  context: Context,
  filter: Target,
  reading: Reading,
): Promise<{ names: string[]; bytes: AsyncIterable<Uint8Array> }> {
  const scope = filter.scope?.trim() ?? "";
  if (scope === "")
    throw new Failure("invalid", "scope is required: say whose logs, as ?scope=SCOPE or ?scope=SCOPE&name=NAME");
  context.link.require();
  await context.pods.refreshAll();
  const target = { ...filter, scope };
  const names = podsOf(context, target).map((pod) => pod.name);
  if (names.length === 0) throw noContainers(target);
  const open = (name: string, options: Reading) => podLogs(context, name, options);
  const onBroken = (pod: string, error: unknown) => {
    if (!reading.signal.aborted) context.log.warn("log stream broke off", { pod, error });
  };
  if (!reading.follow) {
    const sources = names.map((name) => ({ name, open: () => open(name, { ...reading, timestamps: true }) }));
    return { names, bytes: orderedLogs(sources, { timestamps: reading.timestamps, onBroken }) };
  }
  const bytes = mergedLines({
    sources: await Promise.all(names.map((name) => presentRun(context, name))),
    ...{ reading, open, log: context.log },
    later: {
      sources: async () => podsOf(context, target),
      subscribe: (listener) =>
        context.apps.subscribe((key) => {
          if (key === undefined || matches(key, target)) listener();
        }),
    },
  });
  return { names, bytes };
}

function podsOf({ pods }: Context, target: Target): Pod[] {
  return [...pods.all()].filter((pod) => matches(pod.key, target)).sort(byIdentity);
}

/** Asks the engine: a run that is only known from before would be read twice. */
async function presentRun({ engine }: Context, name: string): Promise<LineSource> {
  const container = await engine.inspect(engine.named(name)).catch(() => undefined);
  return { name, startedAt: container?.startedAt };
}

function noContainers({ kind, scope, name }: Target): Failure {
  const place = name === undefined ? `in scope "${scope}"` : `of "${scope}/${name}"`;
  const what = kind === undefined ? "containers" : `containers of kind "${kind}"`;
  return new Failure("not_found", `no ${what} ${place}, so there are no logs; GET /pods lists all containers`);
}

async function requireContainer({ engine }: Context, name: string): Promise<void> {
  if ((await engine.inspect(engine.named(name))) === undefined)
    throw new Failure("not_found", `no container "${name}"`);
}

/** The bytes, once the first part is there: what is wrong shows before that. */
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
