import { afterEach, expect, test } from "bun:test";
import { execInPod } from "../../../../plugins/kit/exec.ts";
import {
  createFrameReader,
  encodeFrame,
  frameTypes,
  jsonFrame,
} from "../../../../src/orchestration/api/exec-frames.ts";

let server: Bun.TCPSocketListener<undefined> | undefined;
afterEach(() => server?.stop(true));

const head = "HTTP/1.1 200 OK\r\nX-Exec-Framing: 1\r\n\r\n";
const text = (type: number, value: string) => encodeFrame(type, Buffer.from(value));

/** A server that answers every request with these pieces, one after the other, and keeps what it was sent. */
function answering(pieces: (string | Uint8Array)[], { hangUp = false } = {}) {
  const received: Uint8Array[] = [];
  server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async data(socket, chunk) {
        received.push(chunk);
        if (received.length > 1) return;
        for (const piece of pieces) {
          socket.write(piece);
          await Bun.sleep(2);
        }
        if (hangUp) socket.end();
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, sent: () => Buffer.concat(received).toString("latin1") };
}

const request = { pod: "data-main.0", command: ["sh", "/berth/tools.sh", "status"], timeoutMs: 5_000 };

test("output and exit code come back, lines of stderr as they come", async () => {
  const lines: string[] = [];
  const { url, sent } = answering([
    head,
    text(frameTypes.stdout, "role=pri"),
    text(frameTypes.stderr, "one\ntw"),
    Buffer.concat([text(frameTypes.stdout, "mary\n"), text(frameTypes.stderr, "o")]),
    jsonFrame(frameTypes.exit, { exit_code: 3 }),
  ]);
  const outcome = await execInPod(url, { ...request, progress: (line) => lines.push(line) });
  expect(outcome).toEqual({ exitCode: 3, stdout: "role=primary\n", stderr: "one\ntwo" });
  expect(lines).toEqual(["one", "two"]);
  expect(sent()).toStartWith(
    "POST /pods/data-main.0/exec?framing=true&interactive=true HTTP/1.1\r\nHost: localhost\r\n",
  );
});

test("standard input is sent behind the request and then ends; it stands in no argument", async () => {
  const { url, sent } = answering([head, jsonFrame(frameTypes.exit, { exit_code: 0 })]);
  await execInPod(url, { ...request, stdin: "secret" });
  const bytes = Buffer.from(sent(), "latin1");
  const end = bytes.indexOf("\r\n\r\n") + 4;
  const body = JSON.stringify({ command: request.command });
  expect(bytes.toString("latin1", end, end + body.length)).toBe(body);
  const { frames } = createFrameReader().push(bytes.subarray(end + body.length));
  expect(frames.map(({ type, payload }) => [type, Buffer.from(payload).toString()])).toEqual([
    [frameTypes.stdin, "secret"],
    [frameTypes.stdin, ""],
  ]);
});

test("the server's own refusal is the error", async () => {
  const body = JSON.stringify({ status: "error", error: 'no container "data-main.0"' });
  const { url } = answering([`HTTP/1.1 404 Not Found\r\nContent-Length: ${body.length}\r\n\r\n`, body]);
  await expect(execInPod(url, request)).rejects.toThrow('no container "data-main.0"');
});

test("a session that breaks off, fails, or says what is no frame ends as an error", async () => {
  const broken = answering([head, text(frameTypes.stdout, "half")], { hangUp: true });
  await expect(execInPod(broken.url, request)).rejects.toThrow("broke off before the command had ended");
  server?.stop(true);
  const failed = answering([head, text(frameTypes.error, "engine away")]);
  await expect(execInPod(failed.url, request)).rejects.toThrow(
    '"sh /berth/tools.sh status" in data-main.0 failed: engine away',
  );
  server?.stop(true);
  const flood = answering([head, Buffer.from([1, 0xff, 0xff, 0xff, 0xff])]);
  await expect(execInPod(flood.url, request)).rejects.toThrow("is too long");
});

test("it never waits longer than it was told, and never keeps more than it may", async () => {
  const silent = answering([head]);
  await expect(execInPod(silent.url, { ...request, timeoutMs: 50 })).rejects.toThrow("took longer than 0.05 seconds");
  server?.stop(true);
  const megabyte = encodeFrame(frameTypes.stdout, new Uint8Array(1024 * 1024));
  const flood = answering([head, ...Array.from({ length: 12 }, () => megabyte)]);
  await expect(execInPod(flood.url, request)).rejects.toThrow("printed more than 8388608 bytes");
});

test("where nobody listens, the call fails at once", async () => {
  const { url } = answering([]);
  server?.stop(true);
  await expect(execInPod(url, request)).rejects.toThrow();
});
