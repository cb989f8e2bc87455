import { expect, test } from "bun:test";
import { telemetryLimits } from "../../../../../src/config/telemetry-limits.ts";
import { createDecodeThread } from "../../../../../src/observability/service/telemetry/decode-thread.ts";
import type { DecodeJob } from "../../../../../src/observability/service/telemetry/messages.ts";
import { failureText } from "../../../../support/failure.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

test("after the end nothing starts the thread again, whatever still waits for its turn", async () => {
  let started = 0;
  let ended = 0;
  const { decode: setup, thread: limits } = telemetryLimits.room;
  const thread = createDecodeThread({
    start: () => {
      started += 1;
      const end = () => {
        ended += 1;
      };
      return { post: () => undefined, end };
    },
    ...{ setup, limits, clock: createFakeClock(), log: silentLog },
  });
  const run = () => thread.run({ body: new ArrayBuffer(0) } as DecodeJob, () => undefined);
  const underWay = failureText(run());
  thread.close();
  expect(await underWay).toStartWith("unavailable");
  expect(await failureText(run())).toStartWith("unavailable");
  expect([started, ended]).toEqual([1, 1]);
});
