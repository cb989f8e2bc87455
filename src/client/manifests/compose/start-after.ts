import { isFields } from "../../../base/pure/fields.ts";
import { type ReadService, type Sorted, startsAfter } from "./once.ts";

/** Keeps the order of `depends_on` for the first start of each deployment. Jobs are left out. */
export function setStartAfter({ kept, inits }: Pick<Sorted, "kept" | "inits">): void {
  const awaited = new Map<ReadService, Map<ReadService, "ready" | "started">>(kept.map((one) => [one, new Map()]));
  for (const one of kept) {
    // An init runs in front of its service, so that service waits for what the init waits for.
    const own = [one, ...[...inits].filter(([, host]) => host === one).map(([init]) => init)];
    for (const other of [...kept, ...inits.keys()]) {
      const conditions = own.filter(({ fields }) => startsAfter(fields, other.service)).map((it) => awaits(it, other));
      const host = inits.get(other) ?? other;
      if (conditions.length === 0 || host === one || leadsTo(awaited, host, one)) continue;
      const isReady = conditions.includes("ready") || awaited.get(one)?.get(host) === "ready";
      awaited.get(one)?.set(host, isReady && host === other ? "ready" : "started");
    }
  }
  for (const [one, others] of awaited) {
    const names = [...others].map(([{ name }, until]) => (until === "ready" ? name : `${name}:started`));
    if (names.length > 0) one.spec.start_after = names;
  }
}

function awaits({ fields: { depends_on: depends } }: ReadService, { service }: ReadService): "ready" | "started" {
  const entry = isFields(depends) ? depends[service] : undefined;
  return isFields(entry) && entry.condition === "service_healthy" ? "ready" : "started";
}

/** Inits may move a wait to a service that waits itself: no two may wait for each other. */
function leadsTo(
  awaited: ReadonlyMap<ReadService, ReadonlyMap<ReadService, unknown>>,
  from: ReadService,
  to: ReadService,
) {
  const found = new Set([from]);
  for (const one of found) for (const next of awaited.get(one)?.keys() ?? []) found.add(next);
  return found.has(to);
}
