import { afterEach, expect, test } from "bun:test";
import type { ExecRequest } from "../../../../plugins/kit/exec.ts";
import { createPodShells } from "../../../../plugins/kit/pod-shells.ts";
import {
  createFrameReader,
  encodeFrame,
  frameTypes,
  jsonFrame,
} from "../../../../src/orchestration/api/exec-frames.ts";

let server: Bun.TCPSocketListener<Peer> | undefined;
afterEach(() => server?.stop(true));

interface Peer {
  child: Bun.Subprocess<"pipe", "pipe", "pipe"> | undefined;
  reader: ReturnType<typeof createFrameReader>;
  unsent: Uint8Array;
}

/** Runs commands as a pod does, on this machine; `begun` has the command of each session. */
function pods() {
  const begun: string[][] = [];
  const flush = (socket: Bun.Socket<Peer>) => {
    socket.data.unsent = socket.data.unsent.subarray(Math.max(socket.write(socket.data.unsent), 0));
  };
  const send = (socket: Bun.Socket<Peer>, bytes: string | Uint8Array) => {
    socket.data.unsent = Buffer.concat([socket.data.unsent, Buffer.from(bytes)]);
    flush(socket);
  };
  const begin = (socket: Bun.Socket<Peer>, request: Buffer): Buffer => {
    const end = request.indexOf("\r\n\r\n") + 4;
    const length = Number(/^content-length: (\d+)/im.exec(request.toString("latin1", 0, end))?.[1]);
    const { command } = JSON.parse(request.toString("utf8", end, end + length)) as { command: string[] };
    begun.push(command);
    const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    socket.data.child = child;
    send(socket, "HTTP/1.1 200 OK\r\nX-Exec-Framing: 1\r\n\r\n");
    const pump = async (stream: ReadableStream<Uint8Array>, type: number) => {
      for await (const bytes of stream) send(socket, encodeFrame(type, bytes));
    };
    void Promise.all([pump(child.stdout, frameTypes.stdout), pump(child.stderr, frameTypes.stderr)]).then(async () =>
      send(socket, jsonFrame(frameTypes.exit, { exit_code: await child.exited })),
    );
    return request.subarray(end + length);
  };
  server = Bun.listen<Peer>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { child: undefined, reader: createFrameReader(), unsent: new Uint8Array(0) };
      },
      data: (socket, chunk) => {
        const rest = socket.data.child === undefined ? begin(socket, chunk) : chunk;
        const { child } = socket.data;
        for (const { payload } of socket.data.reader.push(rest).frames) {
          if (payload.length === 0) void child?.stdin.end();
          else child?.stdin.write(payload);
        }
        void child?.stdin.flush();
      },
      drain: flush,
      close: ({ data }) => data.child?.kill("SIGKILL"),
    },
  });
  const inPods = createPodShells(`http://127.0.0.1:${server.port}`);
  const run = (command: string[], more: Partial<ExecRequest> = {}) =>
    inPods({ pod: "data-main.0", command, timeoutMs: 5_000, ...more });
  return { run, begun };
}

const sh = (script: string, ...args: string[]) => ["sh", "-c", script, "sh", ...args];

test("one shell runs the commands of a pod, each with its words, its output and its exit code", async () => {
  const { run, begun } = pods();
  expect(await run(sh('printf "<%s>" "$@"', " a  b ", "", "ü", "-n", "$HOME"))).toEqual({
    exitCode: 0,
    stdout: "< a  b ><><ü><-n><$HOME>",
    stderr: "",
  });
  const lines: string[] = [];
  const talks = sh("echo out; echo one >&2; printf half; printf two >&2; exit 3");
  const outcome = await run(talks, { progress: (line) => lines.push(line) });
  expect(outcome).toEqual({ exitCode: 3, stdout: "out\nhalf", stderr: "one\ntwo" });
  expect(lines).toEqual(["one", "two"]);
  // What a command reads is not what comes next.
  expect((await run(["cat"])).stdout).toBe("");
  expect((await run(sh("head -c 300000 /dev/zero | tr '\\0' x"))).stdout).toHaveLength(300_000);
  expect(begun).toHaveLength(1);
  await run(["true"], { pod: "data-main.1" });
  expect(begun).toHaveLength(2);
});

test("a command with an input, with a word of two lines, or beside another one runs by itself", async () => {
  const { run, begun } = pods();
  expect((await run(["cat"], { stdin: "secret" })).stdout).toBe("secret");
  expect((await run(["echo", "a\nb"])).stdout).toBe("a\nb\n");
  expect(begun).toEqual([["cat"], ["echo", "a\nb"]]);
  const [first, second] = await Promise.all([run(["echo", "1"]), run(["echo", "2"])]);
  expect([first.stdout, second.stdout]).toEqual(["1\n", "2\n"]);
  expect(begun).toHaveLength(4);
  expect(begun[3]).toEqual(["echo", "2"]);
});

test("a shell that has ended, or whose command takes too long, is followed by another one", async () => {
  const { run, begun } = pods();
  await expect(run(sh("kill -9 $PPID; sleep 1"))).rejects.toThrow("broke off before the command had ended");
  expect((await run(["echo", "on"])).stdout).toBe("on\n");
  await expect(run(["sleep", "9"], { timeoutMs: 50 })).rejects.toThrow(
    '"sleep 9" in data-main.0 took longer than 0.05',
  );
  expect((await run(["echo", "on"])).stdout).toBe("on\n");
  expect(begun).toHaveLength(3);
  const flood = run(sh("head -c 9000000 /dev/zero"));
  await expect(flood).rejects.toThrow("printed more than 8388608 bytes");
  expect((await run(["echo", "on"])).stdout).toBe("on\n");
});

test("where nobody listens, each call fails at once", async () => {
  const { run } = pods();
  server?.stop(true);
  await expect(run(["true"])).rejects.toThrow();
  await expect(run(["true"])).rejects.toThrow();
});
