import { Failure } from "../../base/wire/failure.ts";
import { type Access, readTarget } from "./target.ts";

/** What rclone calls the encrypted place of an installation's databases at a target. */
export const remoteName = "databases";

/**
 * What rclone gets in its environment: the place of an installation's databases at a target, encrypted by its crypt remote.
 * `password` is as `rclone obscure` writes it. Fails `invalid` for a target that keeps no single files, or needs what rclone
 * does not know of.
 */
export function remoteEnvironment(
  url: string,
  { installation, credentials, password }: Omit<Access, "password"> & { password: string },
): Record<string, string> {
  const { kind, repositoryOf } = readTarget(url);
  const place = `${repositoryOf(installation)}.databases`;
  const crypt = (remote: string) => ({
    RCLONE_CONFIG_DATABASES_TYPE: "crypt",
    RCLONE_CONFIG_DATABASES_REMOTE: remote,
    RCLONE_CONFIG_DATABASES_PASSWORD: password,
  });
  if (kind === "folder") return crypt(place);
  const [, endpoint = "", path = ""] = /^s3:(https?:\/\/[^/]+)\/(.+)$/.exec(place) ?? [];
  if (kind !== "s3") {
    throw new Failure("invalid", `databases by point in time go to a folder or to S3, not to a target like ${url}`);
  }
  return {
    ...crypt(`place:${path}`),
    RCLONE_CONFIG_PLACE_TYPE: "s3",
    RCLONE_CONFIG_PLACE_PROVIDER: "Other",
    RCLONE_CONFIG_PLACE_ENDPOINT: endpoint,
    RCLONE_CONFIG_PLACE_REGION: /\bs3[.-]([a-z0-9-]+)\.amazonaws\.com$/.exec(endpoint)?.[1] ?? "",
    RCLONE_CONFIG_PLACE_FORCE_PATH_STYLE: "true",
    RCLONE_CONFIG_PLACE_NO_CHECK_BUCKET: "true",
    // What was taken is listed afterwards, with its size.
    RCLONE_CONFIG_PLACE_NO_HEAD: "true",
    // A base backup comes as a stream: at most 10,000 parts of this size.
    RCLONE_CONFIG_PLACE_CHUNK_SIZE: "64M",
    RCLONE_CONFIG_PLACE_UPLOAD_CONCURRENCY: "1",
    RCLONE_CONFIG_PLACE_ACCESS_KEY_ID: credentials.access_key_id ?? "",
    RCLONE_CONFIG_PLACE_SECRET_ACCESS_KEY: credentials.secret_access_key ?? "",
  };
}

/** A file as `rclone lsjson` lists it. Path below what was listed. */
export interface RemoteFile {
  path: string;
  bytes: number;
}

/** Fails `internal` for what is not a list. */
export function readRemoteFiles(text: string): RemoteFile[] {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    rows = undefined;
  }
  if (!Array.isArray(rows)) throw new Failure("internal", "rclone listed no files");
  return rows.flatMap((row: { Path?: unknown; Size?: unknown; IsDir?: unknown }) =>
    typeof row.Path === "string" && row.IsDir !== true ? [{ path: row.Path, bytes: Number(row.Size) }] : [],
  );
}
