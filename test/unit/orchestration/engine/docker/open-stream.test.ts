import Dockerode from "dockerode";
import { afterEach, describe, expect, test } from "bun:test";
import { engineFailure } from "../../../../../src/orchestration/engine/docker/errors.ts";
import { openConnection } from "../../../../../src/orchestration/engine/docker/open-stream.ts";
import { pipeOf } from "../../../../../src/orchestration/engine/docker/pipe.ts";
import { expectFailure } from "../../../../support/failure.ts";

const attempt = { verb: 'run "ls" in', subject: 'container "a"' };
const servers: { stop(force: boolean): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

/** A server that answers any bytes with these chunks, one after the other; returns what it was asked. */
function serve(chunks: string[], then: "stays" | "ends" = "stays") {
  const seen = { text: "" };
  const server = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: async (peer, bytes) => {
        seen.text += bytes.toString();
        for (const chunk of chunks.splice(0)) {
          peer.write(chunk);
          await Bun.sleep(10);
        }
        if (then === "ends") peer.end();
      },
    },
  });
  servers.push(server);
  const docker = new Dockerode({ protocol: "http", host: "127.0.0.1", port: server.port, version: "v1.41" });
  const ask = async (signal: AbortSignal = new AbortController().signal) => {
    const request = { path: "/exec/x/start", body: { Tty: false, text: "ü" }, signal };
    try {
      return pipeOf(await openConnection(docker, request));
    } catch (error) {
      throw engineFailure(error, attempt);
    }
  };
  return { ask, seen };
}

describe("openConnection", () => {
  test("asks as the engine wants it, and hands over what follows the head", async () => {
    const { ask, seen } = serve([
      "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgra",
      "de: tcp\r\n\r\nearly",
      " and late",
    ]);
    const pipe = await ask();
    let text = "";
    while (text !== "early and late") {
      const bytes = await pipe.read();
      if (bytes === undefined) break;
      text += Buffer.from(bytes).toString();
    }
    expect(text).toBe("early and late");
    const [head = "", body = ""] = seen.text.split("\r\n\r\n");
    expect(head).toStartWith("POST /v1.41/exec/x/start HTTP/1.1\r\n");
    expect(head).toContain("\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n");
    expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toEqual({ Tty: false, text: "ü" });
    pipe.close();
  });

  test("an engine that answers 200 has agreed too", async () => {
    const pipe = await serve(["HTTP/1.1 200 OK\r\n\r\n"]).ask();
    expect(pipe.ended()).toBe(false);
    pipe.close();
  });

  test.each([
    [404, "not_found"],
    [409, "conflict"],
    [500, "conflict"],
    [503, "unavailable"],
  ] as const)("a refusal with %d is %s, in the engine's words", async (status, code) => {
    const body = '{"message":"say \\"what\\" again"}\n';
    const head = `HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\n\r\n`;
    for (const chunks of [[head + body], [head, body.slice(0, 14), body.slice(14)]]) {
      const failure = await expectFailure(serve(chunks).ask(), code);
      expect(failure.message).toBe('cannot run "ls" in container "a": say "what" again');
    }
  });

  test("a chunked refusal, and one that is no JSON, are told as well", async () => {
    const chunked = serve([
      "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n",
      '{"message":"why"}\r\n0\r\n\r\n',
    ]);
    expect((await expectFailure(chunked.ask(), "conflict")).message).toEndWith("why");
    const plain = serve(["HTTP/1.1 500 No\r\n\r\nplain words\n"], "ends");
    expect((await expectFailure(plain.ask(), "conflict")).message).toEndWith("plain words");
  });

  test("an answer that is none is an engine that cannot be reached", async () => {
    await expectFailure(serve(["SSH-2.0-x\r\n\r\n"]).ask(), "unavailable");
    await expectFailure(serve(["HTTP/1.1 101"], "ends").ask(), "unavailable");
    await expectFailure(serve(["HTTP/1.1 101 x\r\n", "x".repeat(200_000)]).ask(), "unavailable");
  });

  test("an abort ends the attempt", async () => {
    const { ask } = serve([]);
    const stop = new AbortController();
    const asked = ask(stop.signal);
    setTimeout(() => stop.abort(), 30);
    await expectFailure(asked, "unavailable");
    await expect(ask(AbortSignal.abort())).rejects.toThrow("aborted");
  });
});
