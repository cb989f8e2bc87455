import { Failure } from "../../../base/wire/failure.ts";
import { createLineTail } from "../../../base/words/lines.ts";
import type { ProbesConfig } from "../../core/spec/probes.ts";
import type { ContainerSpec } from "../../core/workload.ts";
import type { PodRef } from "../../engine/pod.ts";
import { attemptProbe } from "../pods/probe-attempt.ts";
import type { Context } from "../state/context.ts";

/** Requests and connections from inside the network of a process, by its id: a closed network is entered from nowhere else. */
export type InsideNetwork = (pid: number) => Required<Pick<Context, "fetch" | "knock">>;

export interface DrilledPod {
  /** Whether the app has a check of its own. */
  isChecked: boolean;
  /**
   * Whether a check of the app's own has passed, or it has just run for a while, for which it was only watched. Fails
   * `conflict` with the cause.
   */
  ready(signal: AbortSignal): Promise<{ result: "proved" | "started"; watchedMs: number }>;
}

/** How a command ended. */
export interface EndedCommand {
  /** Undefined where it did not end in time. */
  exitCode: number | undefined;
  /** Its last lines. */
  said: string;
  /** What went wrong, in words. */
  failed: string | undefined;
}

const lookMs = 1_000;
/** An app without a check has started once it has run for as long as this: a name that leads nowhere takes 10 s to fail. */
const calmMs = 30_000;
const tailLines = 5;
const saidCharsMax = 1_000;

/** What is done with containers on a closed network. */
export function createDrillPods(context: Context, inside: InsideNetwork) {
  const { engine, clock } = context;

  async function lastLines(pod: PodRef): Promise<string> {
    const lines = createLineTail(tailLines);
    const decoder = new TextDecoder();
    const options = { follow: false, tail: tailLines, since: undefined, timestamps: false };
    for await (const bytes of engine.logs(pod, options, AbortSignal.timeout(lookMs * 10)))
      lines.push(decoder.decode(bytes, { stream: true }));
    return lines.lines().join(" | ").trim().slice(-saidCharsMax);
  }

  const ended = async (pod: PodRef, what: string) =>
    new Failure("conflict", `${what}; ${printed(await lastLines(pod))}`);

  /** Runs a container to its end, and removes it. `what` begins the text of a failure. */
  async function toEnd(
    spec: ContainerSpec,
    { what, timeoutMs }: { what: string; timeoutMs: number },
    signal: AbortSignal,
  ): Promise<EndedCommand> {
    const pod = await engine.create(spec);
    await engine.start(pod);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const end = await engine.wait(pod, limit).catch((error: unknown) => {
      if (signal.aborted || !limit.aborted) throw error;
      return undefined;
    });
    const said = await lastLines(pod);
    await engine.remove(pod);
    const how = end === undefined ? `did not end within ${timeoutMs / 1000} s` : `ended with exit code ${end.exitCode}`;
    const failed = end?.exitCode === 0 ? undefined : `${what} ${how}; ${printed(said)}`;
    return { exitCode: end?.exitCode, said, failed };
  }

  /** One attempt of each check, in the order in which they count. */
  async function ready(pod: PodRef, probes: ProbesConfig, signal: AbortSignal): ReturnType<DrilledPod["ready"]> {
    const open = checksOf(probes);
    const proves = open.length > 0;
    let last = "it was not asked yet";
    for (;;) {
      const detail = await engine.inspect(pod);
      if (detail === undefined) throw new Failure("conflict", "its container was removed by something else");
      if (detail.state === "exited" || detail.state === "dead")
        throw await ended(pod, `it ended with exit code ${detail.exitCode ?? "unknown"}`);
      const [check] = open;
      if (check === undefined && proves) return { result: "proved", watchedMs: 0 };
      const isUp = detail.state === "running" && detail.pid !== undefined;
      if (isUp && check === undefined && clock.now() - (detail.startedAt ?? clock.now()) >= calmMs)
        return { result: "started", watchedMs: calmMs };
      if (isUp && check !== undefined) {
        const address = Object.values(detail.addresses)[0] ?? "127.0.0.1";
        const from = { ...context, ...inside(detail.pid ?? 0) };
        const attempt = await attemptProbe(from, { pod, address }, check);
        if (attempt?.ok) {
          open.shift();
          continue;
        }
        last = attempt?.text ?? last;
      }
      await clock.sleep(lookMs, signal);
      if (signal.aborted) throw await ended(pod, `it was not ready in time: ${last}`);
    }
  }

  /** A replica, from when it was started. */
  async function begin(spec: ContainerSpec, probes: ProbesConfig): Promise<DrilledPod> {
    const pod = await engine.create(spec);
    await engine.start(pod);
    return { isChecked: checksOf(probes).length > 0, ready: (signal) => ready(pod, probes, signal) };
  }

  return { toEnd, begin };
}

const printed = (said: string) => `it printed last: ${said === "" ? "nothing" : said}`;

function checksOf({ startup, readiness, liveness }: ProbesConfig) {
  return [startup, readiness ?? (startup === undefined ? liveness : undefined)].filter((one) => one !== undefined);
}
