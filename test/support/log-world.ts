import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import { systemClock } from "../../src/base/words/clock.ts";
import type { LoggedContainer } from "../../src/observability/collect/logs/capture.ts";
import type { LogPlatform } from "../../src/observability/service/logs/create.ts";
import { createLogKeeper, type LogKeeper } from "../../src/observability/service/logs/keeper.ts";
import type { StartLogThread } from "../../src/observability/service/logs/log-thread.ts";
import { silentLog } from "./silent-log.ts";

export interface LogFiles {
  folder: string;
  platform: LogPlatform;
  /** A container of an app, with an empty log file. */
  container(app: string, replica: string): LoggedContainer;
  /** As Docker writes it; the time is the next millisecond of the past minute. */
  write(container: LoggedContainer, ...lines: string[]): void;
  /** Takes a container off the list. */
  remove(container: LoggedContainer): void;
  /** Ends the thread as a crash would. */
  crash(): void;
  close(): void;
}

/** Log files in a folder of their own, read by a keeper in this process. */
export function logFiles(): LogFiles {
  const folder = mkdtempSync(join(tmpdir(), "berth-logs-"));
  const all: LoggedContainer[] = [];
  const { store, capture, search, room } = logLimits;
  let at = Date.now() - 60_000;
  let onChange = () => {};
  let crash = () => {};
  const closed = new AbortController();
  const start: StartLogThread = ({ onMessage, onEnd }) => {
    const over = new AbortController();
    let keeper: LogKeeper | undefined;
    let running = Promise.resolve();
    crash = () => {
      over.abort();
      onEnd("crashed");
    };
    closed.signal.addEventListener("abort", () => over.abort());
    return {
      post(message) {
        if (message.type === "open") {
          const post = (answer: Parameters<typeof onMessage>[0]) => queueMicrotask(() => onMessage(answer));
          keeper = createLogKeeper({ setup: message.setup, clock: systemClock, log: silentLog, post });
          running = keeper.run(over.signal);
        } else if (message.type === "close") {
          over.abort();
          void running.then(() => onMessage({ type: "closed" }));
        } else keeper?.receive(message);
      },
      end: () => over.abort(),
    };
  };
  return {
    folder,
    platform: {
      start,
      setup: { folder: join(folder, "store"), store, capture: { ...capture, lookMs: 5 }, search },
      limits: { ...room, settleMs: 1, restartMs: 20 },
      containers: async () => all,
      async changes(signal, changed) {
        onChange = changed;
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
    },
    container(app, replica) {
      const [scope = "", name = ""] = app.split("/");
      const id = `${scope}-${name}.${replica}`;
      const path = join(folder, `${id}-json.log`);
      writeFileSync(path, "");
      const container = {
        app: { scope, name },
        source: { id, pod: id, replica, release: "r1", role: "" },
        path,
        running: true,
      };
      all.push(container);
      onChange();
      return container;
    },
    write({ path }, ...lines) {
      for (const line of lines) {
        at += 1;
        appendFileSync(
          path,
          `${JSON.stringify({ log: `${line}\n`, stream: "stdout", time: new Date(at).toISOString() })}\n`,
        );
      }
    },
    remove(container) {
      all.splice(all.indexOf(container), 1);
      rmSync(container.path);
      onChange();
    },
    crash: () => crash(),
    close() {
      closed.abort();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
