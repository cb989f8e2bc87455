import { Failure } from "../../../base/wire/failure.ts";
import type { ArchiveAsk, Source, SourceReader } from "../../../orchestration/api/sources.ts";
import { mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";

/** Source of new apps, of those that a token may see. Each fails `forbidden` for the others. */
export interface Sources {
  git(grant: Grant, body: unknown, signal: AbortSignal): Promise<Source>;
  /** `declared`: as many bytes as the client says that it sends. */
  archive(
    grant: Grant,
    upload: { bytes: AsyncIterable<Uint8Array>; declared: number },
    options: { ask: ArchiveAsk; signal: AbortSignal },
  ): Promise<Source>;
}

export function createSourceRoom(reader: SourceReader | undefined): Sources {
  const readerFor = (grant: Grant, { scope, name }: { scope?: unknown; name?: unknown }): SourceReader => {
    if (reader === undefined) throw new Failure("unavailable", "this server reads no source");
    if (typeof scope === "string" && typeof name === "string" && !mayReach(grant, { scope, name })) {
      throw new Failure("forbidden", `this token may not build ${scope}/${name}`);
    }
    return reader;
  };
  return {
    async git(grant, body, signal) {
      const ask: Partial<Record<"scope" | "name" | "token_key", unknown>> =
        typeof body === "object" && body !== null ? body : {};
      const reader = readerFor(grant, ask);
      if (ask.token_key !== undefined && !grant.scopes.includes("config:reveal")) {
        throw new Failure(
          "forbidden",
          "token_key: a value of config is sent to the address, which takes the scope config:reveal",
        );
      }
      return reader.git(body, { signal });
    },
    async archive(grant, { bytes, declared }, { ask, signal }) {
      const chosen = readerFor(grant, ask);
      if (declared > chosen.uploadBytesMax) {
        throw new Failure("too_large", `the upload is larger than ${chosen.uploadBytesMax} bytes`);
      }
      return chosen.archive(bytes, ask, signal);
    },
  };
}
