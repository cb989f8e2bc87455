import { Failure } from "../../../base/wire/failure.ts";
import type { Cursor } from "../../core/logs/cursor.ts";
import type { FoundLine } from "../../core/logs/line.ts";
import { jsonLine, objectName, syslogFrames } from "../../core/drains/formats.ts";
import type { DrainTarget } from "../../api/log-drains.ts";
import type { DrainOutside } from "./parts.ts";

interface Batch {
  lines: readonly FoundLine[];
  /** Where it begins. */
  cursor: Cursor;
}

/** Delivers a batch; resolves when the other side has it. Fails with a `Failure` that says why not. */
export async function sendBatch(outside: DrainOutside, target: DrainTarget, batch: Batch): Promise<void> {
  const { hostname, limits } = outside;
  const signal = AbortSignal.timeout(limits.sendMs);
  if (target.type === "syslog") {
    const { host, port, tls = true, ca } = target;
    return outside.stream({ host, port, tls, ca }, Buffer.from(syslogFrames(batch.lines, hostname)), signal);
  }
  const body = batch.lines.map((line) => jsonLine(line, hostname)).join("");
  if (target.type === "http") {
    const headers = { "Content-Type": "application/x-ndjson", ...target.headers };
    const answer = await outside.post({ method: "POST", url: target.url, headers, body }, signal);
    if (answer.status >= 200 && answer.status < 300) return;
    throw new Failure("unavailable", `the other side answered with status ${answer.status}`);
  }
  const {
    bucket,
    endpoint,
    region,
    prefix = "",
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  } = target;
  const first = { at: batch.lines[0]?.at ?? batch.cursor.at, skip: batch.cursor.skip };
  await outside.put(
    { bucket, endpoint, region, accessKeyId, secretAccessKey },
    { name: objectName(prefix, first), bytes: Bun.gzipSync(Buffer.from(body)), type: "application/gzip" },
  );
}
