import { DeclinedFailure, retryAfterMs } from "../../../base/deliver/declined.ts";
import { isCut } from "../../../base/deliver/failure-text.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DrainTarget } from "../../api/log-drains.ts";
import { type Batch, type Declined, declinedBy } from "../../core/drains/batch.ts";
import { objectName } from "../../core/drains/formats.ts";
import type { Cursor } from "../../core/logs/cursor.ts";
import type { DrainOutside } from "./parts.ts";

interface Sending {
  target: DrainTarget;
  batch: Batch;
  /** Where it begins. */
  cursor: Cursor;
  now: number;
}

/** Delivers a batch: undefined once the other side has it, otherwise why it does not take it. */
export async function sendBatch(outside: DrainOutside, sending: Sending): Promise<Declined | undefined> {
  const { type } = sending.target;
  try {
    await send(outside, sending);
    return undefined;
  } catch (error) {
    if (error instanceof DeclinedFailure) {
      const { status, retryAfter } = error.answer;
      return { ...declinedBy(status, type, error.message), waitMs: retryAfterMs(retryAfter, sending.now) };
    }
    if (!(error instanceof Failure)) throw error;
    return { why: isCut(error) ? "cut" : "trouble", text: error.message };
  }
}

async function send(outside: DrainOutside, { target, batch, cursor }: Sending): Promise<void> {
  const signal = AbortSignal.timeout(outside.limits.sendMs);
  const body = batch.texts.join("");
  if (target.type === "syslog") {
    const { host, port, tls = true, ca } = target;
    return outside.stream({ host, port, tls, ca }, Buffer.from(body), signal);
  }
  if (target.type === "http") {
    const headers = { "Content-Type": "application/x-ndjson", ...target.headers };
    const { status, retryAfter } = await outside.post({ method: "POST", url: target.url, headers, body }, signal);
    if (status >= 200 && status < 300) return;
    throw new DeclinedFailure(`the other side answered with status ${status}`, { status, retryAfter });
  }
  const {
    bucket,
    endpoint,
    region,
    prefix = "",
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  } = target;
  const first = { at: batch.lines[0]?.at ?? cursor.at, skip: cursor.skip };
  await outside.put(
    { bucket, endpoint, region, accessKeyId, secretAccessKey },
    { name: objectName(prefix, first), bytes: Bun.gzipSync(Buffer.from(body)), type: "application/gzip" },
  );
}
