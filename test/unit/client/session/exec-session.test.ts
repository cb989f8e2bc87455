import { OutputFailure } from "../../../../src/client/basics/output.ts";
import { endpointRoute } from "../../../../src/client/basics/endpoint.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { targetOf } from "../../../../src/base/wire/client.ts";
import { execPod } from "../../../../src/orchestration/api/exec.ts";
import { type ExecCall, execSession } from "../../../../src/client/session/exec-session.ts";
import type { RawTerminal } from "../../../../src/client/basics/raw-terminal.ts";
import { createByteQueue } from "../../../../src/base/words/byte-queue.ts";
import type { ExecProgram } from "../../../support/memory-runtime/execs.ts";
import { type Plane, startPlane } from "../../../support/socket-plane.ts";
import { eventually } from "../../../support/front.ts";

const pod = "s-web.ab1cd";
let plane: Plane;
let program: ExecProgram;

beforeAll(async () => {
  plane = await startPlane();
  await plane.pod(pod);
  plane.runtime.onExec(() => (io) => program(io));
});
afterAll(() => plane.close());

/** A terminal that notes what happens to it. */
function terminal() {
  const seen = { out: "", err: "", events: [] as string[] };
  const keys = createByteQueue({ highBytes: 1_000_000, pause: () => undefined, resume: () => undefined });
  let resized = () => {};
  let size = { cols: 100, rows: 30 };
  const raw: RawTerminal = {
    inputIsTerminal: true,
    stdout: async (bytes) => {
      seen.out += Buffer.from(bytes).toString();
    },
    stderr: async (bytes) => {
      seen.err += Buffer.from(bytes).toString();
    },
    input: () => {
      seen.events.push("input");
      return { chunks: keys, stop: () => seen.events.push("stop") };
    },
    size: () => size,
    onResize: (listener) => {
      resized = listener;
      return () => seen.events.push("unwatch");
    },
    enterRaw: () => {
      seen.events.push("raw");
      return () => seen.events.push("cooked");
    },
    enterScreen: () => () => undefined,
  };
  const resize = (cols: number, rows: number) => {
    size = { cols, rows };
    resized();
  };
  return { raw, seen, keys, resize };
}

type Screen = ReturnType<typeof terminal>;
let screen: Screen;
beforeEach(() => {
  screen = terminal();
});

function session(change: Partial<ExecCall> = {}, name = pod): Promise<number> {
  const { tty = false, interactive = false } = change;
  return execSession({
    route: endpointRoute(plane.front.url),
    target: targetOf(execPod.path, { params: { name }, query: { framing: true, tty, interactive } }),
    headers: {},
    body: { command: ["sh"], env: [] },
    tty,
    interactive,
    terminal: screen.raw,
    signal: new AbortController().signal,
    answerMs: 1_000,
    ...change,
  });
}

const cat: ExecProgram = async ({ input, stdout }) => {
  for await (const bytes of input) await stdout(bytes);
  return 4;
};

test("output goes where it belongs, the exit code comes back, and nothing is asked of the terminal", async () => {
  program = async ({ stdout, stderr }) => {
    await stdout("out");
    await stderr("err");
    return 3;
  };
  expect(await session()).toBe(3);
  expect(screen.seen).toEqual({ out: "out", err: "err", events: [] });
});

test("input is passed on and its end, over the unix socket too", async () => {
  program = cat;
  const ended = session({ interactive: true, route: endpointRoute(`unix:${plane.front.unix.unix}`) });
  screen.keys.push(Buffer.from("a lot".repeat(200_000)));
  screen.keys.end();
  expect(await ended).toBe(4);
  expect(screen.seen.out).toHaveLength(1_000_000);
  expect(screen.seen.events).toEqual(["input", "stop"]);
});

test("a terminal is raw only during the session; its size is passed on when it changes", async () => {
  program = async ({ input, stdout, size }) => {
    for await (const bytes of input) {
      await stdout(`${Buffer.from(bytes)}${size()?.cols} `);
      if (bytes.includes(0x71)) return 0;
    }
    return 1;
  };
  const ended = session({ tty: true, interactive: true });
  screen.keys.push(Buffer.from("a"));
  await eventually(() => screen.seen.out !== "");
  expect(screen.seen.events).toContain("raw");
  screen.resize(42, 10);
  screen.keys.push(Buffer.from("q"));
  expect(await ended).toBe(0);
  expect(screen.seen.out).toEndWith("q42 ");
  expect(screen.seen.events).toEqual(["input", "raw", "unwatch", "cooked", "stop"]);
});

describe("what goes wrong", () => {
  test("a refusal is the server's own words, with the terminal untouched", async () => {
    await expect(session({ tty: true, interactive: true }, "s-web.gone")).rejects.toMatchObject({
      name: "ApiError",
      status: 404,
      message: expect.stringContaining("s-web.gone"),
    });
    expect(screen.seen.events).toEqual([]);
  });

  test("a session that breaks brings the terminal back", async () => {
    program = async ({ stdout, killed }) => {
      await stdout("up");
      await new Promise((resolve) => killed.addEventListener("abort", resolve));
      return 0;
    };
    const own = await startPlane();
    await own.pod(pod);
    own.runtime.onExec(() => (io) => program(io));
    const ended = session({ tty: true, interactive: true, route: endpointRoute(own.front.url) });
    await eventually(() => screen.seen.out === "up");
    await own.close();
    await expect(ended).rejects.toThrow("the session broke off before the command had ended");
    expect(screen.seen.events.slice(-3)).toEqual(["unwatch", "cooked", "stop"]);
  });

  test("Ctrl-C ends the session and the command", async () => {
    const killed = Promise.withResolvers<void>();
    program = async (io) => {
      await io.stdout("up");
      await new Promise((resolve) => io.killed.addEventListener("abort", resolve));
      killed.resolve();
      return 0;
    };
    const stop = new AbortController();
    const ended = session({ signal: stop.signal });
    await eventually(() => screen.seen.out === "up");
    stop.abort();
    await expect(ended).rejects.toMatchObject({
      message: "interrupted: the server ends the command too",
      exitCode: 130,
    });
    await killed.promise;
  });

  test("nobody who reads our output", async () => {
    program = async ({ stdout, killed }) => {
      while (!killed.aborted) await stdout("y\n".repeat(10_000));
      return 0;
    };
    screen.raw.stdout = async () => {
      throw new OutputFailure(1, "EPIPE");
    };
    expect(await session()).toBe(141);
  });

  test("an error frame is the message", async () => {
    program = () => {
      throw new Error("a bug");
    };
    await expect(session()).rejects.toThrow(/internal error, id/);
  });

  test("nobody listens", async () => {
    await expect(session({ route: endpointRoute("http://127.0.0.1:1") })).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining("nothing listens there"),
    });
    await expect(session({ route: endpointRoute("unix:/nonexistent.sock") })).rejects.toThrow("no such socket");
  });

  test.each<[string, string, string]>([
    ["a server that does not frame", "HTTP/1.1 200 OK\r\n\r\n", "too old"],
    ["an answer that is no envelope", "HTTP/1.1 502 Bad\r\nContent-Length: 4\r\n\r\noops", "status 502: oops"],
    ["a server that hangs up", "", "the session broke off before the server had answered"],
    ["half a head", "HTTP/1.1 200 OK\r\n", "the session broke off before the server had answered"],
  ])("%s", async (_what, answer, message) => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write(answer);
          socket.end();
        },
      },
    });
    await expect(session({ route: endpointRoute(`http://127.0.0.1:${server.port}`) })).rejects.toThrow(message);
    server.stop(true);
  });
});
