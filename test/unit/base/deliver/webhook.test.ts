import { afterEach, describe, expect, test } from "bun:test";
import { signature, signingSecret } from "../../../../src/base/deliver/signature.ts";
import { createWebhookSender, type WebhookCall, type WebhookOptions } from "../../../../src/base/deliver/webhook.ts";
import { secret } from "../../../../src/base/words/secret.ts";
import { type AnswerHook, type HookReceiver, startReceiver } from "../../../support/webhook-receiver.ts";

const signing = signingSecret(secret(new Uint8Array(32).fill(7)));
const now = Date.UTC(2026, 0, 1) + 999;
const open = new AbortController().signal;

let receivers: HookReceiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.map((one) => one.stop()));
  receivers = [];
});

function receiver(answer?: AnswerHook, tls?: { cert: string; key: string }): HookReceiver {
  const made = startReceiver(answer, tls);
  receivers.push(made);
  return made;
}

function sender(options: Partial<WebhookOptions> = {}) {
  return createWebhookSender({
    fetch: (url, init) => fetch(url, init),
    resolve: async () => ["127.0.0.1"],
    allowPrivate: true,
    signing,
    headerPrefix: "X-Berth",
    userAgent: "berth/1.2.3",
    now: () => now,
    timeoutMs: 10_000,
    responseBytesMax: 1_024,
    ...options,
  });
}

const call = (url: string, change: Partial<WebhookCall> = {}): WebhookCall => ({
  id: "l8x2k1abc:success:0",
  event: "deploy.success",
  url,
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: '{"a":"ü"}',
  attempts: 0,
  ...change,
});

describe("a request", () => {
  test("carries method, path, headers and body, and is signed over time and body", async () => {
    const { url, received, port } = receiver();
    const attempt = await sender()(call(`${url}/in/x?y=%20z`, { method: "PUT", headers: { A: "b" } }), open);
    expect(attempt).toEqual({ outcome: "delivered", result: "status 204" });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: "PUT", path: "/in/x?y=%20z", body: '{"a":"ü"}' });
    expect(received[0]?.headers).toMatchObject({
      a: "b",
      host: `127.0.0.1:${port}`,
      "user-agent": "berth/1.2.3",
      "x-berth-delivery": "l8x2k1abc:success:0",
      "x-berth-event": "deploy.success",
      "x-berth-timestamp": "1767225600",
      "x-berth-signature": signature(signing, 1_767_225_600, '{"a":"ü"}'),
    });
  });

  test("goes to the address that was checked, under its own name", async () => {
    const { received, port } = receiver();
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      return ["127.0.0.1"];
    };
    const attempt = await sender({ resolve })(call(`http://hook.test:${port}/`), open);
    expect(attempt.outcome).toBe("delivered");
    expect(looked).toEqual(["hook.test"]);
    expect(received[0]?.headers.host).toBe(`hook.test:${port}`);
  });

  test("never asks for the name again: a second answer could be another one", async () => {
    const asked: string[] = [];
    const answers = [["1.1.1.1"], ["127.0.0.1"]];
    const send = sender({
      allowPrivate: false,
      resolve: async () => answers.shift() ?? [],
      fetch: async (url) => {
        asked.push(url);
        return new Response(null, { status: 200 });
      },
    });
    await send(call("http://rebind.test/x"), open);
    expect(asked).toEqual(["http://1.1.1.1/x"]);
  });

  test("tries another address of the host each time", async () => {
    const asked: string[] = [];
    const send = sender({
      resolve: async () => ["2606:4700:4700::1111", "1.1.1.1"],
      fetch: async (url) => {
        asked.push(url);
        return new Response(null);
      },
    });
    for (const attempts of [0, 1, 2]) await send(call("https://a.test:8443/x", { attempts }), open);
    expect(asked).toEqual([
      "https://1.1.1.1:8443/x",
      "https://[2606:4700:4700::1111]:8443/x",
      "https://1.1.1.1:8443/x",
    ]);
  });

  test("says who it is for where a certificate is checked, but not for a bare address", async () => {
    const names: unknown[] = [];
    const send = sender({
      resolve: async () => ["1.1.1.1"],
      fetch: async (_, init) => {
        names.push(init.tls?.serverName);
        return new Response(null);
      },
    });
    for (const url of ["https://a.test/", "https://1.1.1.1/", "http://a.test/"]) await send(call(url), open);
    expect(names).toEqual(["a.test", undefined, undefined]);
  });

  test("cannot have our own headers forged, nor those of the connection", async () => {
    const { url, received } = receiver();
    const headers = { "x-berth-signature": "sha256=0", "X-BERTH-Other": "1", HOST: "evil.test", "content-length": "3" };
    await sender()(call(url, { headers }), open);
    const got = received[0]?.headers ?? {};
    expect(got["x-berth-signature"]).toBe(signature(signing, 1_767_225_600, '{"a":"ü"}'));
    expect(got["x-berth-other"]).toBeUndefined();
    expect(got.host).not.toBe("evil.test");
    expect(received[0]?.body).toBe('{"a":"ü"}');
  });

  test("takes its own User-Agent, and a login that stands in the address", async () => {
    const { port, received } = receiver();
    await sender()(call(`http://ana:p%40ss@127.0.0.1:${port}/`, { headers: { "user-agent": "mine" } }), open);
    expect(received[0]?.headers["user-agent"]).toBe("mine");
    expect(received[0]?.headers.authorization).toBe(`Basic ${btoa("ana:p@ss")}`);
    await sender()(call(`http://ana:100%@127.0.0.1:${port}/`, {}), open);
    expect(received[1]?.headers.authorization).toBe(`Basic ${btoa("ana:100%")}`);
  });
});

describe("an answer", () => {
  test.each([200, 201, 202, 204, 299])("%d is a delivery", async (status) => {
    const { url } = receiver(() => new Response(null, { status }));
    expect(await sender()(call(url), open)).toEqual({ outcome: "delivered", result: `status ${status}` });
  });

  test.each([301, 302, 307, 400, 401, 404, 408, 409, 410, 429, 500, 503])("%d is none", async (status) => {
    const elsewhere = receiver();
    const { url, received } = receiver(() => new Response("no", { status, headers: { location: elsewhere.url } }));
    const unheard = status < 500 && status !== 408 && status !== 409 ? ({ unheard: true } as const) : {};
    expect(await sender()(call(url), open)).toEqual({ outcome: "failed", result: `status ${status}`, ...unheard });
    expect(received).toHaveLength(1);
    expect(elsewhere.received).toEqual([]);
  });

  test("without end is not read to its end", async () => {
    let pulled = 0;
    const endless = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            pulled += 1;
            controller.enqueue(new Uint8Array(1_024));
            await Bun.sleep(1);
          },
        }),
      );
    const { url } = receiver(endless);
    expect((await sender()(call(url), open)).outcome).toBe("delivered");
    expect(pulled).toBeGreaterThan(0);
  });

  test("that packs a bomb is not unpacked", async () => {
    const bomb = Bun.gzipSync(new Uint8Array(32 * 1024 * 1024));
    const { url } = receiver(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }));
    expect((await sender({ responseBytesMax: 64 * 1024 })(call(url), open)).outcome).toBe("delivered");
  });
});

describe("a failure is told in a few words that repeat nothing of the request", () => {
  const secretPath = "/services/T0KEN?key=s3cret";
  const quiet = (result: string) => {
    for (const part of ["T0KEN", "s3cret", "127.0.0.1"]) expect(result).not.toContain(part);
  };

  test("nobody listens", async () => {
    const gone = startReceiver();
    await gone.stop();
    const { outcome, result } = await sender()(call(`http://hook.test:${gone.port}${secretPath}`), open);
    expect({ outcome, result }).toEqual({ outcome: "failed", result: "connection refused" });
    quiet(result);
  });

  test("nobody answers", async () => {
    const { port } = receiver(() => new Promise<Response>(() => undefined));
    const attempt = await sender({ timeoutMs: 100 })(call(`http://hook.test:${port}${secretPath}`), open);
    expect(attempt).toEqual({ outcome: "failed", result: "no answer within 0.1 s" });
  });

  test("the name is looked up for ever", async () => {
    const resolve = () => new Promise<string[]>(() => undefined);
    const attempt = await sender({ resolve, timeoutMs: 50 })(call("http://hook.test/"), open);
    expect(attempt).toEqual({ outcome: "failed", result: "no answer within 0.05 s" });
  });

  test("an answer that stalls after its status has said what it had to", async () => {
    const stalled = () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(8)) }));
    const { url } = receiver(stalled);
    expect(await sender({ timeoutMs: 3_000 })(call(url), open)).toEqual({ outcome: "delivered", result: "status 200" });
  });

  test("the name is unknown", async () => {
    const resolve = () => Promise.reject(new Error("ENOTFOUND"));
    const { outcome, result } = await sender({ resolve })(call(`http://hook.test${secretPath}`), open);
    expect({ outcome, result }).toEqual({ outcome: "failed", result: 'the host "hook.test" cannot be resolved' });
  });

  test("the certificate is one of its own making", async () => {
    const attempt = await sender()(call(receiver(undefined, selfSigned).url + secretPath), open);
    expect(attempt).toEqual({ outcome: "failed", result: "the certificate is self-signed", unheard: true });
  });

  test("a header that cannot be sent", async () => {
    const { url, received } = receiver();
    const { outcome, result } = await sender()(call(url, { headers: { A: "s3cret\u0000" } }), open);
    expect(outcome).toBe("failed");
    expect(received).toEqual([]);
    quiet(result);
  });

  test("an address inside is refused, without a connection", async () => {
    const { url, received } = receiver();
    const attempt = await sender({ allowPrivate: false })(call(url + secretPath), open);
    expect(attempt.outcome).toBe("refused");
    expect(received).toEqual([]);
  });
});

test("the certificate must be of the host that the manifest names, whatever the address", async () => {
  const { port, received } = receiver(undefined, selfSigned);
  const trusting = sender({
    fetch: (url, init) => fetch(url, { ...init, tls: { ...init.tls, ca: selfSigned.cert } }),
  });
  expect((await trusting(call(`https://hook.test:${port}/`), open)).outcome).toBe("delivered");
  const other = await trusting(call(`https://other.test:${port}/`), open);
  expect(other).toEqual({ outcome: "failed", result: "the certificate is for another host", unheard: true });
  expect(received).toHaveLength(1);
});

test("when the server stops, the attempt rejects: it says nothing about the receiver", async () => {
  const stopping = new AbortController();
  const { url } = receiver(() => {
    stopping.abort();
    return new Promise<Response>(() => undefined);
  });
  const attempt = sender()(call(url), stopping.signal);
  expect(
    await attempt.then(
      () => "answered",
      () => "rejected",
    ),
  ).toBe("rejected");
});

/** For `hook.test`, until 2120; good for nothing but these tests. */
const selfSigned = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBXjCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlob29rLnRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWhvb2sudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLFNGRQkcDxh55kp
TIJL/Mse2rllZutKRPaCa2cAg6GH6iEPtZcgd/2T4oh9OKxD6HccLZfUz+er9EFF
o/jLuAejRTBDMBQGA1UdEQQNMAuCCWhvb2sudGVzdDAMBgNVHRMEBTADAQH/MB0G
A1UdDgQWBBStcH8lbUT0/BxvZHe3+6pPiHKT9zAKBggqhkjOPQQDAgNIADBFAiEA
8pKHJCGW0+ILpPd6aJmJZX7VAc19mNyMlUQ+coVFln4CIDJpTlC3QUlNEqkTkIud
Fg7+CMyBKuuzf/VWIgQaCDLx
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLhnExjmcx5WotGh5
+svH8rAKxlMRq2op6i1RZv5aqrehRANCAASxTRkUJHA8YeeZKUyCS/zLHtq5ZWbr
SkT2gmtnAIOhh+ohD7WXIHf9k+KIfTisQ+h3HC2X1M/nq/RBRaP4y7gH
-----END PRIVATE KEY-----
`,
};
