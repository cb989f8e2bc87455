import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import { logQuery } from "../../../../../src/orchestration/engine/docker/log-stream.ts";
import type { Engine } from "../../../../../src/orchestration/engine/engine.ts";
import { inspection } from "../../../../support/inspection.ts";
import { type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { waitFor } from "../../../../support/wait.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

const all = { follow: false, tail: undefined, since: undefined, timestamps: false };

describe("logQuery", () => {
  test("asks for everything unless told otherwise", () => {
    expect(logQuery(all)).toEqual({
      stdout: "true",
      stderr: "true",
      follow: "false",
      timestamps: "false",
      tail: "all",
    });
  });

  test("counts time in seconds, without losing the rest, and knows no lines from all", () => {
    const query = logQuery({ follow: true, tail: 0, since: 1_700_000_000_123, timestamps: true });
    expect(query).toMatchObject({ follow: "true", timestamps: "true", tail: "0", since: "1700000000.123" });
  });
});

describe("logs of the engine", () => {
  let engine: FakeEngine;
  let runtime: Engine;
  let tty: boolean;
  let facts: { state: "exited" | "running"; startedAt?: string };
  let answer: (response: ServerResponse, query: URLSearchParams) => void;
  beforeEach(async () => {
    tty = false;
    facts = { state: "exited" };
    engine = await startFakeEngine(({ path, query }, response) => {
      if (path.endsWith("/json")) sendJson(response, 200, inspection({ name: "a", tty, ...facts }));
      else answer(response, query);
    });
    runtime = createDockerEngine({ host: engine.host, installationId: "i", names: naming() });
  });
  afterEach(async () => {
    runtime.close();
    await engine.close();
  });
  const logs = (signal = new AbortController().signal) => runtime.logs(podRef("a"), { ...all, follow: true }, signal);
  const frame = (stream: number, text: string) =>
    Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length, ...Buffer.from(text)]);
  const text = (chunks: Uint8Array[]) => Buffer.concat(chunks).toString();

  test("come without their frames, both streams in their order", async () => {
    answer = (response) => response.end(Buffer.concat([frame(1, "one\n"), frame(2, "two\n"), frame(1, "three\n")]));
    expect(text(await Array.fromAsync(logs()))).toBe("one\ntwo\nthree\n");
  });

  test("of a terminal are left as they are, even when they look framed", async () => {
    tty = true;
    const raw = frame(1, "raw\n");
    answer = (response) => response.end(raw);
    expect(Buffer.concat(await Array.fromAsync(logs())).equals(raw)).toBe(true);
  });

  describe("of which a follower was not given the end", () => {
    const whole = ["one\n", "two\n", "three\n", "four\n"];
    /** What each follower is given; all of it from the last one on. */
    let given: string[][];
    let kept: string[];
    beforeEach(() => {
      given = [["one\n", "tw"]];
      kept = whole;
      answer = (response, query) => {
        const lines = query.get("tail") === "all" ? kept : kept.slice(-Number(query.get("tail")));
        const part = query.get("follow") === "true" ? given.shift() : lines;
        // The last follower is there when the container ends.
        if (part === undefined) facts.state = "exited";
        response.end(Buffer.concat((part ?? kept).map((line) => frame(1, line))));
      };
    });

    test("are whole all the same, and told once", async () => {
      expect(text(await Array.fromAsync(logs()))).toBe(whole.join(""));
    });

    test("are whole also where every line is the same", async () => {
      kept = Array.from({ length: 9 }, () => "same\n");
      given = [["same\n", "same\n"]];
      expect(text(await Array.fromAsync(logs()))).toBe(kept.join(""));
    });

    test("are not read once more where their last lines were seen", async () => {
      given = [whole];
      expect(text(await Array.fromAsync(logs()))).toBe(whole.join(""));
      const asked = engine.requests.filter(({ path }) => path.endsWith("/logs")).map(({ query }) => query.get("tail"));
      expect(asked).toEqual(["all", "32"]);
    });

    test("are read on while the container runs, as often as the engine lets go", async () => {
      facts.state = "running";
      given = [
        ["one\n", "tw"],
        ["one\n", "two\n"],
        ["one\n", "two\n"],
        ["one\n", "two\n", "th"],
      ];
      expect(text(await Array.fromAsync(logs()))).toBe(whole.join(""));
    });

    test("are left alone where another run has begun, or only some lines of one that has ended were wanted", async () => {
      const some = runtime.logs(podRef("a"), { ...all, follow: true, tail: 2 }, new AbortController().signal);
      expect(text(await Array.fromAsync(some))).toBe("one\ntw");
      given = [["one\n", "tw"]];
      facts = { ...facts, state: "running" };
      let told = "";
      for await (const bytes of logs()) {
        told += Buffer.from(bytes).toString();
        facts = { ...facts, startedAt: "2026-01-01T00:09:00Z" };
      }
      expect(told).toBe("one\ntw");
    });

    test("are told to be broken where what was seen has been rotated away while it runs", async () => {
      kept = ["three\n", "four\n"];
      expect(text(await Array.fromAsync(logs()))).toBe("one\ntw");
      given = [["one\n", "tw"], kept];
      facts.state = "running";
      await expectFailure(Array.fromAsync(logs()), "unavailable");
      given = Array.from({ length: 9 }, () => ["one\n"]);
      kept = ["one\n"];
      await expectFailure(Array.fromAsync(logs()), "unavailable");
    });
  });

  test("are handed on as they come, also without follow", async () => {
    const first = Promise.withResolvers<void>();
    answer = async (response) => {
      response.write(frame(1, "early\n"));
      await first.promise;
      response.end(frame(1, "late\n"));
    };
    const seen: Uint8Array[] = [];
    for await (const chunk of runtime.logs(podRef("a"), all, new AbortController().signal)) {
      seen.push(chunk);
      first.resolve();
    }
    expect(text(seen)).toBe("early\nlate\n");
  });

  test("that break off are an engine that went away", async () => {
    answer = (response) => {
      response.write(frame(1, "x\n"));
      setTimeout(() => response.destroy(), 20);
    };
    await expectFailure(Array.fromAsync(logs()), "unavailable", "EngineUnavailable");
  });

  test("that the engine refuses are told with its words", async () => {
    answer = (response) => refuse(response, 500, "configured logging driver does not support reading");
    const failure = await expectFailure(Array.fromAsync(logs()), "conflict");
    expect(failure.message).toBe(
      'cannot read the log of container "a": configured logging driver does not support reading',
    );
  });

  test("end at an abort, and with the connection", async () => {
    let gone = false;
    answer = (response) => {
      response.on("close", () => {
        gone = true;
      });
      response.write(frame(1, "x\n"));
    };
    const stop = new AbortController();
    for await (const _ of logs(stop.signal)) stop.abort();
    await waitFor("the connection to end", () => gone);
  });

  test("that nobody reads on end with the reader", async () => {
    let gone = false;
    answer = (response) => {
      response.on("close", () => {
        gone = true;
      });
      response.write(frame(1, "x\n"));
    };
    for await (const _ of logs()) break;
    await waitFor("the connection to end", () => gone);
  });

  test("end with the runtime", async () => {
    answer = (response) => response.write(frame(1, "x\n"));
    await expectFailure(
      (async () => {
        for await (const _ of logs()) runtime.close();
      })(),
      "unavailable",
    );
  });
});
