import { Failure } from "../../base/wire/failure.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { ContainerRef, CopiedVolume, Platform } from "./platform.ts";

/** Containers that were paused for a copy, stored before the first of them is. */
export interface PauseRecords {
  paused(): ContainerRef[];
  setPaused(containers: readonly ContainerRef[]): Promise<void>;
  /** Apps whose `pre` has begun, and whose `post` has not ended. */
  closed(): ClosedApp[];
  /** One of them: its `post`, or undefined once that has ended. */
  changeClosed(volume: CopiedVolume, post: readonly string[] | undefined): Promise<void>;
}

export interface ClosedApp {
  volume: CopiedVolume;
  post: readonly string[];
}

/** Reading volumes that nothing writes to meanwhile. */
export interface Still {
  /**
   * Containers that write to the volume are paused, `pauseMaxMs` or `maxMs` at most, and go on whatever happens. `onPaused`
   * gets the time that they were. Fails `conflict` where that time was not enough, or where a container could write all the same.
   */
  read<T>(
    volume: string,
    how: { signal: AbortSignal; onPaused: (ms: number) => void; maxMs?: number | undefined },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Lets go on what a server that was killed has left paused. Tries until it is done, or the server stops. */
  recover(): Promise<void>;
}

export function createStill({
  records,
  platform,
  clock,
  log,
  limits,
  closing,
}: {
  records: Pick<PauseRecords, "paused" | "setPaused">;
  platform: Pick<Platform, "writers" | "pause" | "unpause">;
  clock: SteadyClock;
  log: Log;
  limits: { pauseMaxMs: number; unpauseRetryMs: number };
  /** Aborts when the server stops. */
  closing: AbortSignal;
}): Still {
  async function unpauseAll(containers: readonly ContainerRef[]): Promise<boolean> {
    const done = await Promise.allSettled(containers.map((one) => platform.unpause(one)));
    const failed = done.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    for (const error of failed) log.error("container is still paused for a copy", { error });
    if (failed.length > 0) return false;
    await records.setPaused([]).catch((error: unknown) => log.error("end of a pause not recorded", { error }));
    return true;
  }

  async function recover(): Promise<void> {
    for (;;) {
      const left = records.paused();
      if (left.length === 0 || (await unpauseAll(left)) || closing.aborted) return;
      await clock.sleep(limits.unpauseRetryMs, closing);
    }
  }

  async function refuseWriting(volume: string): Promise<void> {
    const odd = (await platform.writers(volume)).find(({ state }) => state !== "paused");
    if (odd === undefined) return;
    const hint = odd.state === "restarting" ? "; it keeps restarting: correct it, or stop it with berth scale" : "";
    throw new Failure("conflict", `the container ${odd.name} can write to the volume while it is read${hint}`);
  }

  /** At the limit, and when the server stops, the containers go on at once, before the reader has ended. */
  async function paused<T>(
    running: readonly ContainerRef[],
    { limit, goOn, volume }: { limit: AbortSignal; goOn: () => Promise<void>; volume: string },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    limit.addEventListener("abort", () => void goOn(), { once: true });
    await Promise.all(running.map((one) => platform.pause(one)));
    await refuseWriting(volume);
    const value = await work(limit);
    limit.throwIfAborted();
    await refuseWriting(volume);
    return value;
  }

  return {
    async read(volume, { signal, onPaused, maxMs = limits.pauseMaxMs }, work) {
      const running = (await platform.writers(volume)).filter(({ state }) => state === "running");
      if (running.length === 0) {
        await refuseWriting(volume);
        const value = await work(signal);
        await refuseWriting(volume);
        return value;
      }
      const limit = new AbortController();
      await records.setPaused(running.map(({ node, id }) => ({ node, id })));
      const began = clock.steady();
      let going: Promise<void> | undefined;
      const goOn = () => {
        going ??= unpauseAll(running).then((done) => {
          onPaused(Math.round(clock.steady() - began));
          if (!done) void recover();
        });
        return going;
      };
      const timer = setTimeout(() => limit.abort(), maxMs);
      try {
        return await paused(running, { limit: AbortSignal.any([signal, limit.signal]), goOn, volume }, work);
      } catch (error) {
        throw limit.signal.aborted && !signal.aborted ? tooLong(maxMs, error) : error;
      } finally {
        clearTimeout(timer);
        await goOn();
      }
    },
    recover,
  };
}

function tooLong(ms: number, cause: unknown): Failure {
  const hint = "give pre and post in the field backup, which make the app quiet in its own way, or exclude files";
  return new Failure(
    "conflict",
    `the volume was not read within ${ms / 1_000} s, the longest pause of an app; ${hint}`,
    {
      cause,
    },
  );
}
