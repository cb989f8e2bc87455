import { Failure } from "../../base/wire/failure.ts";

/** Where copies go to. */
interface TargetPlace {
  kind: "folder" | "s3" | "sftp" | "rest";
  /** Repository of restic for one installation: the target with its id behind it. */
  repositoryOf(installation: string): string;
}

/** Credentials that a target of each kind takes, by the name of their field. */
const credentialsOf = {
  folder: [],
  s3: ["access_key_id", "secret_access_key"],
  sftp: [],
  rest: ["user", "password"],
} as const satisfies Record<TargetPlace["kind"], readonly string[]>;

const places = "/FOLDER, s3://HOST/BUCKET/PATH, sftp://USER@HOST/PATH or rest:https://HOST/PATH";
const forms = `write ${places}`;

/** How a target is made, for what cannot go on without one. */
export const addTarget = `berth backup target add NAME WHERE (${places})`;

export const noTarget = () => new Failure("conflict", `there is no target: ${addTarget}`);

/** An app that is stored and asks for no copies. */
export const notCopied = (app: string) =>
  new Failure("conflict", `${app} is not copied: its manifest has no field backup: add \`backup: {}\``);

/**
 * Reads the address of a target: `/srv/copies`, `s3://s3.eu-central-1.amazonaws.com/bucket/path` (`s3+http://` without
 * TLS), `sftp://user@host:22/srv/copies`, `rest:https://host:8000/path`. Fails `invalid`, and says what to write.
 */
export function readTarget(url: string): TargetPlace {
  if (/[\s\0-\x1f]/.test(url)) throw wrong(`the address has a blank or a control character; ${forms}`);
  if (url.startsWith("/")) return folderTarget(url);
  const [, scheme = "", rest = ""] = /^(s3|s3\+http|sftp|rest):(.*)$/.exec(url) ?? [];
  if (scheme === "s3" || scheme === "s3+http") return s3Target(url, rest, scheme === "s3" ? "https" : "http");
  if (scheme === "sftp") return sftpTarget(url, rest);
  if (scheme === "rest") return restTarget(url, rest);
  throw wrong(`"${url}" is not the address of a target: ${forms}`);
}

function folderTarget(url: string): TargetPlace {
  const path = url.replace(/\/+$/, "");
  if (path === "" || path.split("/").some((part) => part === ".." || part === ".")) {
    throw wrong(`"${url}" is not a folder for copies: name one by its full path, such as /mnt/disk/copies`);
  }
  return { kind: "folder", repositoryOf: (installation) => `${path}/${installation}` };
}

function s3Target(url: string, rest: string, scheme: string): TargetPlace {
  const place = parsed(url, `${scheme}:${rest}`);
  const [bucket, ...folders] = pathOf(place);
  if (bucket === undefined) {
    const hint = place.hostname.includes(".") ? "" : `: s3://s3.REGION.amazonaws.com/${place.hostname}/PATH`;
    throw wrong(`"${url}" names no server or no bucket; write s3://HOST/BUCKET/PATH${hint}`);
  }
  if (!place.hostname.includes(".") && place.hostname !== "localhost") {
    const path = [place.hostname, bucket, ...folders].join("/");
    throw wrong(`"${url}" names no server; write s3://s3.REGION.amazonaws.com/${path}, or the host of your storage`);
  }
  const base = [`s3:${scheme}://${place.host}`, bucket, ...folders].join("/");
  return { kind: "s3", repositoryOf: (installation) => `${base}/${installation}` };
}

function sftpTarget(url: string, rest: string): TargetPlace {
  const place = parsed(url, `ssh:${rest}`);
  const folders = pathOf(place);
  if (folders.length === 0) throw wrong(`"${url}" names no folder; write sftp://USER@HOST/PATH`);
  if (place.hostname.startsWith("-") || place.username.startsWith("-")) throw wrong(`"${url}" begins with "-"`);
  const user = place.username === "" ? "" : `${place.username}@`;
  // Two slashes: the path counts from the root of the other machine.
  const base = `sftp://${user}${place.host}//${folders.join("/")}`;
  return { kind: "sftp", repositoryOf: (installation) => `${base}/${installation}` };
}

function restTarget(url: string, rest: string): TargetPlace {
  if (!/^https?:\/\//.test(rest)) throw wrong(`"${url}" is not the address of a target: write rest:https://HOST/PATH`);
  const place = parsed(url, rest);
  const base = [`rest:${place.protocol}//${place.host}`, ...pathOf(place)].join("/");
  return { kind: "rest", repositoryOf: (installation) => `${base}/${installation}/` };
}

function parsed(url: string, text: string): URL {
  const place = URL.parse(text);
  if (place === null || place.hostname === "") throw wrong(`"${url}" is not the address of a target: ${forms}`);
  if (place.password !== "" || (place.username !== "" && place.protocol !== "ssh:")) {
    throw wrong("credentials do not belong in the address of a target, where lists show them: give them as flags");
  }
  if (place.search !== "" || place.hash !== "") throw wrong(`"${url}" has a "?" or "#", which no target has`);
  return place;
}

function pathOf({ pathname }: URL): string[] {
  const parts = pathname.split("/").filter((part) => part !== "");
  if (parts.some((part) => !/^[A-Za-z0-9._~-]+$/.test(part))) {
    throw wrong("the path of a target has letters, digits and the characters . _ ~ - alone");
  }
  return parts;
}

/** What opens the copies of an installation at a target. */
export interface Access {
  installation: string;
  /** Text of the recovery key. */
  password: string;
  credentials: Credentials;
}

/** What restic gets in its environment, never as an argument: other users of the machine can read arguments. */
export function repositoryEnvironment(
  place: TargetPlace,
  { installation, password, credentials }: Access,
): Record<string, string> {
  const repository = place.repositoryOf(installation);
  const { access_key_id: id, secret_access_key: key, user, password: word } = credentials;
  const login =
    place.kind === "rest" && user !== undefined
      ? repository.replace("://", `://${encodeURIComponent(user)}:${encodeURIComponent(word ?? "")}@`)
      : repository;
  const s3: Record<string, string> =
    place.kind === "s3" ? { AWS_ACCESS_KEY_ID: id ?? "", AWS_SECRET_ACCESS_KEY: key ?? "" } : {};
  return { RESTIC_REPOSITORY: login, RESTIC_PASSWORD: password, ...s3 };
}

/** The same for `copy`, of the repository that it reads from. Both are at one target, whose credentials are given once. */
export function sourceEnvironment(place: TargetPlace, access: Access): Record<string, string> {
  const { RESTIC_REPOSITORY, RESTIC_PASSWORD } = repositoryEnvironment(place, access);
  return { RESTIC_FROM_REPOSITORY: RESTIC_REPOSITORY ?? "", RESTIC_FROM_PASSWORD: RESTIC_PASSWORD ?? "" };
}

/** By the names of `credentialsOf`. */
export type Credentials = Readonly<Record<string, string>>;

/** Fails `invalid` for a credential that is missing, or that a target of the kind does not take. */
export function checkCredentials({ kind }: TargetPlace, credentials: Credentials): void {
  const known: readonly string[] = credentialsOf[kind];
  const odd = Object.keys(credentials).find((name) => !known.includes(name));
  if (odd !== undefined) throw wrong(`a target of the kind ${kind} takes no ${odd}`);
  for (const [name, text] of Object.entries(credentials)) {
    if (/[\0-\x1f\x7f]/.test(text) || !text.isWellFormed()) {
      throw wrong(`${name} has a control character or a broken one, which no target takes`);
    }
  }
  const missing = kind === "s3" ? known.find((name) => (credentials[name] ?? "") === "") : undefined;
  if (missing !== undefined) throw wrong(`a target of the kind s3 needs ${missing}`);
}

const wrong = (message: string) => new Failure("invalid", message);
