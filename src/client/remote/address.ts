import { usageFailure } from "../basics/failures.ts";

/** Where `ssh` goes. What is left out, the user's ssh configuration says. */
export interface SshAddress {
  host: string;
  user?: string;
  port?: number;
}

/** Means the server of this machine, and so never a remote. */
export const ownName = "local";

const nameForm = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
/** No part may start with a dash: `ssh` would take it for an option. */
const userForm = /^[A-Za-z0-9_][A-Za-z0-9_.+$\\-]{0,63}$/;
const hostForm = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}|[0-9a-fA-F:]+(?:%[A-Za-z0-9]+)?)$/;
/** `ssh` gives other characters a meaning of its own. */
const pathForm = /^\/[A-Za-z0-9_@/.,+=~-]+$/;

/** The name of a remote or of a group of remotes. */
export function readName(text: string): string {
  if (text === ownName) throw usageFailure(`"${ownName}" always means the server of this machine: choose another name`);
  if (nameForm.test(text)) return text;
  throw usageFailure(`"${text}" cannot be a name: use lower-case letters, digits and dashes, at most 40`);
}

/** `host`, `user@host`, `user@host:port`, `user@[ipv6]:port`. */
export function parseSshAddress(text: string): SshAddress {
  const match = /^(?:([^@]*)@)?(?:\[([^\]]*)\]|([^:@[\]]*))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) throw usageFailure(`"${text}" is not an ssh address: write user@host or user@host:port`);
  const [, user, bracketed, plain = "", port] = match;
  return readAddress({ host: bracketed ?? plain, user, port: port === undefined ? undefined : Number(port) });
}

export function readAddress({
  host,
  user,
  port,
}: {
  host: string;
  user: string | undefined;
  port: number | undefined;
}): SshAddress {
  if (!hostForm.test(host)) throw usageFailure(`"${host}" is not a host name or an address`);
  if (user !== undefined && !userForm.test(user)) throw usageFailure(`"${user}" is not a user name`);
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw usageFailure(`"${port}" is not a port: use 1 to 65535`);
  }
  return { host, ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port }) };
}

/** Path of a unix socket that can stand in a forwarding of ssh. */
export function readSocket(path: string): string {
  if (pathForm.test(path)) return path;
  throw usageFailure(
    `"${path}" is not a path that ssh can forward: it starts with / and has no blanks, colons, % or $`,
  );
}

/** `deploy@shop.example:2222`. */
export function addressText({ host, user, port }: SshAddress): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return `${user === undefined ? "" : `${user}@`}${shown}${port === undefined ? "" : `:${port}`}`;
}
