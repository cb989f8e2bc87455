import { expect, test } from "bun:test";
import { createStreamSender } from "../../../../src/base/deliver/stream-socket.ts";
import { testCertificate } from "../../../support/self-signed.ts";

const guard = { resolve: async () => ["127.0.0.1"], allowPrivate: true };
const send = createStreamSender({ ...guard, limitMs: 3_000 });
const bytes = Buffer.alloc(3_000_000, "x");
const { signal } = new AbortController();

function collector(
  more: { tls?: { cert: string; key: string }; onData?: (socket: { terminate(): void }) => void } = {},
) {
  let received = 0;
  const { tls, onData } = more;
  const server = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    ...(tls === undefined ? {} : { tls }),
    socket: {
      data(socket, chunk) {
        received += chunk.length;
        onData?.(socket);
      },
    },
  });
  return { port: server.port, received: () => received, stop: () => server.stop(true) };
}

test("resolves when the other side has read everything", async () => {
  const { port, received, stop } = collector();
  await send({ host: "collector.test", port, tls: false }, bytes, signal);
  expect(received()).toBe(bytes.length);
  stop();
});

test("over TLS the certificate has to be trusted, and for the name", async () => {
  const pem = testCertificate(["collector.test"]);
  const { port, received, stop } = collector({ tls: { cert: pem, key: pem } });
  await send({ host: "collector.test", port, tls: true, ca: pem }, bytes, signal);
  expect(received()).toBe(bytes.length);
  const wrong = send({ host: "other.test", port, tls: true, ca: pem }, bytes, signal);
  await expect(wrong).rejects.toThrow(/^other\.test:\d+: /);
  const unknown = send({ host: "collector.test", port, tls: true }, bytes, signal);
  await expect(unknown).rejects.toThrow(/^collector\.test:\d+: /);
  expect(received()).toBe(bytes.length);
  stop();
});

test("fails where nothing listens, where the connection breaks, and where an address is closed", async () => {
  const free = collector();
  free.stop();
  await expect(send({ host: "a.test", port: free.port, tls: false }, bytes, signal)).rejects.toThrow(/^a\.test:\d+: /);
  const rude = collector({ onData: (socket) => socket.terminate() });
  await expect(send({ host: "a.test", port: rude.port, tls: false }, bytes, signal)).rejects.toThrow(/^a\.test:\d+: /);
  rude.stop();
  const closed = createStreamSender({ ...guard, allowPrivate: false, limitMs: 1_000 });
  await expect(closed({ host: "a.test", port: 1, tls: false }, bytes, signal)).rejects.toThrow("has no public address");
});
