import { describe, expect, test } from "bun:test";
import { okResponse } from "../../../src/base/http/answers.ts";
import { withContractClient } from "../../../src/compat/door.ts";
import { createLog } from "../../../src/base/words/log.ts";
import { waitFor } from "../../support/wait.ts";

/** A server whose answers wait to be let go, behind a door that waits `ms` for them. */
function slow(ms = 5) {
  const lines: string[] = [];
  const go = Promise.withResolvers<void>();
  const seen: AbortSignal[] = [];
  const fetch = withContractClient(
    async ({ signal }) => {
      seen.push(signal);
      await go.promise;
      return okResponse(200, { status: "succeeded" });
    },
    {
      prefix: "berth",
      log: createLog((line) => lines.push(line), "info"),
      limits: { contractClientMs: ms, jsonDepthMax: 64 },
    },
  );
  const ask = (method: string, path: string, signal = new AbortController().signal, agent = "berth-cli/1") =>
    fetch(new Request(`http://localhost${path}`, { method, headers: { "User-Agent": agent }, signal }));
  return { ask, go: go.resolve, seen, lines };
}

describe("an answer to the contract's own client", () => {
  test.each([
    ["POST", "/restart?name=web"],
    ["POST", "/rollback?name=web"],
    ["POST", "/config?scope=s"],
    ["POST", "/plugin/pg/promote"],
    ["POST", "/apply"],
    ["DELETE", "/apply?kind=deployment&name=web&prune=true"],
    ["DELETE", "/scope?scope=s&prune=true"],
  ])("comes before it hangs up, and what it asked for goes on: %s %s", async (method, path) => {
    const { ask, go, seen, lines } = slow();
    const leaving = new AbortController();
    const answer = await ask(method, path, leaving.signal);
    const { error } = (await answer.json()) as { error: string };
    expect([answer.status, error]).toEqual([504, expect.stringContaining("is still at work after 5ms and goes on")]);
    leaving.abort();
    expect(seen.map(({ aborted }) => aborted)).toEqual([false]);
    go();
    await waitFor("the line about its end", () => lines.some((line) => line.includes("has ended")));
  });

  test("that only reads is asked for again, and its work ends", async () => {
    const { ask, seen } = slow();
    const answer = await ask("GET", "/describe?kind=job&name=x");
    expect([answer.status, seen[0]?.aborted]).toEqual([504, true]);
  });

  test.each([
    ["POST", "/jobs/run?name=x"],
    ["POST", "/cronjobs/run?name=x"],
    ["POST", "/releases/run?name=x"],
    ["POST", "/apply?force=true"],
  ])("is waited for where that client waits: %s %s", async (method, path) => {
    const { ask, go } = slow(0);
    const answer = Promise.resolve(ask(method, path));
    expect(await Promise.race([answer, Bun.sleep(20).then(() => "waits")])).toBe("waits");
    go();
    expect((await answer).status).toBe(200);
  });

  test("that is in time is left alone: a client that leaves ends it", async () => {
    const { ask, go, seen } = slow(60_000);
    const leaving = new AbortController();
    const answer = ask("GET", "/stats", leaving.signal);
    await waitFor("the request", () => seen.length > 0);
    leaving.abort();
    expect(seen[0]?.aborted).toBe(true);
    go();
    await answer;
  });

  test.each(["berth/1", "berth-cli/1 berth"])(
    "has no limit for any other client, nor for berth itself: %s",
    async (agent) => {
      const { ask, go } = slow(0);
      const answer = Promise.resolve(ask("POST", "/restart?name=web", undefined, agent));
      expect(await Promise.race([answer, Bun.sleep(20).then(() => "waits")])).toBe("waits");
      go();
      expect((await answer).status).toBe(200);
    },
  );
});
