import { Failure } from "../wire/failure.ts";
import { DeclinedFailure } from "./declined.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";

interface ObjectPlace {
  bucket: string;
  endpoint: string | undefined;
  region: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Puts one object into storage that is compatible with S3. */
export type PutObject = (
  place: ObjectPlace,
  object: { name: string; bytes: Uint8Array; type: string },
) => Promise<void>;

/**
 * The request is signed here and sent by our own guarded way: the platform's client would resolve the name again, and
 * follow redirects. Fails as a `DeclinedFailure` with what the storage said, and as a guarded request does.
 */
export function createObjectSender(options: Omit<GuardedFetchOptions, "headMs"> & { limitMs: number }): PutObject {
  const ask = createGuardedFetch({ ...options, headMs: options.limitMs });
  return async (place, { name, bytes, type }) => {
    const request = { method: "PUT" as const, headers: { "Content-Type": type }, body: Uint8Array.from(bytes) };
    try {
      const { status, body, retryAfter } = await ask(
        { ...request, url: signed(place, name) },
        AbortSignal.timeout(options.limitMs),
      );
      if (status >= 200 && status < 300) return;
      const [, code] = /<Code>(\w{1,64})<\/Code>/.exec(body) ?? [];
      const said = `the storage answered ${status}${code === undefined ? "" : ` (${code})`}`;
      const meant = code === "EntityTooLarge" ? 413 : status;
      throw new DeclinedFailure(`bucket ${place.bucket}: ${said}`, { status: meant, retryAfter });
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof DeclinedFailure) throw error;
      throw new Failure(error.code, `bucket ${place.bucket}: ${error.message}`, { cause: error });
    }
  };
}

/** A storage refuses a clock that is wrong by as much. */
const signedSeconds = 900;

function signed({ bucket, endpoint, region, accessKeyId, secretAccessKey }: ObjectPlace, name: string): string {
  const client = new Bun.S3Client({
    ...{ bucket, accessKeyId, secretAccessKey },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
  });
  try {
    return client.presign(name, { method: "PUT", expiresIn: signedSeconds });
  } catch (cause) {
    throw new Failure("unavailable", "bucket, endpoint and region make no address", { cause });
  }
}
