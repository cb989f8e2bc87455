import { expect, test } from "bun:test";
import { telemetryLimits } from "../../../../../src/config/telemetry-limits.ts";
import { DecodeError, decodeRequest } from "../../../../../src/observability/service/telemetry/decode.ts";

const setup = telemetryLimits.room.decode;
const source = { id: "otlp c1", pod: "shop-web.a1", replica: "a1", release: "", role: "" };

function refused(body: Uint8Array<ArrayBuffer>, bytesLeft = 32e6): DecodeError {
  const job = { signal: "logs", encoding: "json", isPacked: true, now: 0, app: "web", source } as const;
  try {
    decodeRequest({ ...job, body: body.buffer, bytesLeft }, setup);
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

test("a body that is broken behind its compressed bytes counts as what it was decompressed to", () => {
  const plain = Buffer.from(Array.from({ length: 200_000 }, (_, line) => `${line} ${line * 7919}`).join("\n"));
  const broken = Uint8Array.from(Bun.gzipSync(plain));
  broken[broken.length - 5] = (broken.at(-5) ?? 0) ^ 0xff;
  expect(refused(broken)).toMatchObject({ fault: "invalid" });
  expect(refused(broken).charged).toBeGreaterThanOrEqual(plain.length);
  expect(refused(broken, plain.length + 1).charged).toBeLessThanOrEqual(plain.length + 1);
});

test("a body that was never gzip costs no more than its length", () => {
  expect(refused(Uint8Array.from(Buffer.from("{}")))).toMatchObject({ fault: "invalid", charged: 2 });
});
