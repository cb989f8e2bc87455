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
  { installation, credentials, password, ssh = {} }: Access & { ssh?: SshPlace },
): Record<string, string> {
  const { kind, repositoryOf } = readTarget(url);
  const place = `${repositoryOf(installation)}.databases`;
  const crypt = (remote: string) => ({
    RCLONE_CONFIG_DATABASES_TYPE: "crypt",
    RCLONE_CONFIG_DATABASES_REMOTE: remote,
    RCLONE_CONFIG_DATABASES_PASSWORD: password,
  });
  if (kind === "folder") return crypt(place);
  const [, folder] = /^sftp:\/\/[^/]+\/(\/.+)$/.exec(place) ?? [];
  if (folder !== undefined) return { ...crypt(`place:${folder}`), ...sftpPlace(ssh) };
  const [, endpoint = "", path = ""] = /^s3:(https?:\/\/[^/]+)\/(.+)$/.exec(place) ?? [];
  if (kind !== "s3") {
    throw new Failure("invalid", `databases by point in time go to a folder, S3 or SFTP, not to a target like ${url}`);
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

/** A machine by ssh, as `ssh -G` says it: the settings of root and of the system filled in. */
interface SshPlace {
  hostname?: string | undefined;
  port?: string | undefined;
  user?: string | undefined;
  /** The first file of each that is there. */
  key?: string | undefined;
  knownHosts?: string | undefined;
}

const sftpPlace = ({ hostname = "", port = "22", user = "root", key = "", knownHosts = "" }: SshPlace) => ({
  RCLONE_CONFIG_PLACE_TYPE: "sftp",
  RCLONE_CONFIG_PLACE_HOST: hostname,
  RCLONE_CONFIG_PLACE_PORT: port,
  RCLONE_CONFIG_PLACE_USER: user,
  RCLONE_CONFIG_PLACE_KEY_FILE: key,
  RCLONE_CONFIG_PLACE_KNOWN_HOSTS_FILE: knownHosts,
  // No commands of a shell there, which many such machines do not have.
  RCLONE_CONFIG_PLACE_SHELL_TYPE: "none",
  RCLONE_CONFIG_PLACE_DISABLE_HASHCHECK: "true",
  RCLONE_CONFIG_PLACE_SET_MODTIME: "false",
});

/** What `ssh -G` says. Fails `invalid` for a machine behind another one, which rclone cannot reach, `unavailable` without host keys. */
export function readSsh(said: string, isThere: (path: string) => boolean): SshPlace {
  const rows = said.split("\n").map((line) => [line.replace(/ .*/s, ""), line.replace(/^\S+ ?/, "")] as const);
  const of = (name: string) => rows.flatMap(([key, text]) => (key === name ? [text] : []));
  const through = [...of("proxyjump"), ...of("proxycommand")].find((text) => text !== "none");
  if (through !== undefined) {
    const text = `databases by point in time go straight to a machine, and ssh reaches this one through "${through}"`;
    throw new Failure("invalid", `${text}; choose another target in point_in_time.target`);
  }
  const file = (name: string) =>
    of(name)
      .flatMap((text) => text.split(" "))
      .map((path) => path.replace(/^~\//, "/root/"))
      .find(isThere);
  const [hostname, port, user] = [of("hostname")[0], of("port")[0], of("user")[0]];
  const knownHosts = file("userknownhostsfile") ?? file("globalknownhostsfile");
  if (knownHosts !== undefined) return { hostname, port, user, key: file("identityfile"), knownHosts };
  const text = `no file says which host key ${hostname} has, and rclone would take any`;
  throw new Failure("unavailable", `${text}: connect once by hand, as root`);
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
