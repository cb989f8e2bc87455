import { identityOf, podRef } from "../identity.ts";
import type { PodEvent } from "../pod.ts";
import type { Naming } from "../../core/naming.ts";
import { type Owner, selectorLabels } from "../ownership.ts";
import type { DockerClient } from "./client.ts";
import { engineFailure, unreachable } from "./errors.ts";
import { jsonLines } from "./json-lines.ts";
import { labelFilter } from "./formats.ts";

const attempt = { verb: "follow", subject: "container events" };

/** See `Engine.events`. */
export async function* containerEvents(
  engine: DockerClient,
  owner: Owner,
  { signal, onOpen }: { signal: AbortSignal; onOpen: () => void },
): AsyncGenerator<PodEvent> {
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const source of [signal, engine.closed]) source.addEventListener("abort", end, { once: true });
  try {
    if (signal.aborted) return;
    const stream = await openStream(engine, owner, stop.signal);
    onOpen();
    for await (const row of jsonLines(stream)) {
      const event = containerEvent(row, owner.names);
      if (event !== undefined) yield event;
    }
    throw unreachable("the event stream ended");
  } catch (error) {
    if (!signal.aborted) throw engineFailure(error, attempt);
  } finally {
    for (const source of [signal, engine.closed]) source.removeEventListener("abort", end);
    stop.abort();
  }
}

/**
 * The engine answers before it listens: `since` makes it hand over what happens in that gap. It is our clock; an
 * engine whose clock is behind repeats a few events, which are hints anyway.
 */
async function openStream(
  engine: DockerClient,
  owner: Owner,
  abortSignal: AbortSignal,
): Promise<AsyncIterable<Uint8Array | string>> {
  const filters = { type: ["container" as const], ...labelFilter(selectorLabels(owner, {})) };
  const since = Date.now() / 1000;
  return engine.call(attempt, (docker) => docker.getEvents({ since, filters, abortSignal }));
}

/** Attributes that the engine puts beside the container's labels. */
const notLabels = new Set(["name", "image", "exitCode", "signal", "execID", "execDuration", "oldName", "timeout"]);

/** A row of the engine's event stream; undefined when it is not about a container. */
export function containerEvent(row: unknown, names: Naming): PodEvent | undefined {
  const { Action: action, Actor: actor, time, timeNano } = record(row);
  const { ID: id, Attributes } = record(actor);
  if (typeof action !== "string" || typeof id !== "string") return undefined;
  const attributes = Object.entries(record(Attributes)).map(([key, value]): [string, string] => [key, String(value)]);
  const { name = "", exitCode } = Object.fromEntries(attributes);
  return {
    // `exec_start: <command>`: the command may carry a secret and tells nothing here.
    action: action.startsWith("exec_") ? action.replace(/:.*$/s, "") : action,
    ...podRef(id),
    name,
    identity: identityOf(Object.fromEntries(attributes.filter(([key]) => !notLabels.has(key))), names),
    exitCode: exitCode === undefined ? undefined : Number(exitCode),
    at: typeof timeNano === "number" ? Math.floor(timeNano / 1e6) : Number(time ?? 0) * 1000,
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
