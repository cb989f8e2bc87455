import { Failure } from "../wire/failure.ts";
import { allowedAddresses, type GuardOptions } from "./address-guard.ts";
import { failureText } from "./failure-text.ts";

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

/** Fails `unavailable` with what the storage said, `forbidden` as the address guard does. */
export function createObjectSender(options: GuardOptions & { limitMs: number }): PutObject {
  return async (place, { name, bytes, type }) => {
    if (place.endpoint !== undefined) await allowedAddresses(new URL(place.endpoint).hostname, options);
    const { bucket, endpoint, region, accessKeyId, secretAccessKey } = place;
    const client = new Bun.S3Client({
      ...{ bucket, accessKeyId, secretAccessKey },
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(region === undefined ? {} : { region }),
    });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new DOMException("too late", "TimeoutError")), options.limitMs);
    try {
      await Promise.race([client.write(name, bytes, { type, retry: 0 }), late]);
    } catch (error) {
      throw new Failure("unavailable", `bucket ${bucket}: ${failureText(error, options.limitMs)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
}
