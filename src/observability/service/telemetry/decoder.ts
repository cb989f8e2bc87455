import { DecodeError, decodeRequest } from "./decode.ts";
import type { DecodedPart, DecodeSetup, DecodeSummary, FromDecodeThread, ToDecodeThread } from "./messages.ts";

/** What the thread of the telemetry does: one request after the other, whose parts go out as they are asked for. */
export function createDecoder({
  post,
  report,
}: {
  post: (message: FromDecodeThread, moved?: ArrayBuffer[]) => void;
  report: (error: unknown) => void;
}): (message: ToDecodeThread) => void {
  let setup: DecodeSetup | undefined;
  let parts: DecodedPart[] = [];
  let summary: DecodeSummary | undefined;

  const next = () => {
    const part = parts.shift();
    if (part !== undefined) post({ type: "part", part }, part.signal === "logs" ? [part.packed.buffer] : []);
    else if (summary !== undefined) post({ type: "done", summary });
  };
  return (message) => {
    if (message.type === "open") setup = message.setup;
    else if (message.type === "next") next();
    else if (setup !== undefined) {
      try {
        ({ parts, summary } = decodeRequest(message.job, setup));
      } catch (error) {
        if (!(error instanceof DecodeError)) report(error);
        const { fault, charged } = error instanceof DecodeError ? error : { fault: "internal" as const, charged: 0 };
        post({ type: "fault", fault, message: error instanceof Error ? error.message : String(error), charged });
        return;
      }
      next();
    }
  };
}
