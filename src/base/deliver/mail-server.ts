import { asciiDomain } from "../pure/domain-names.ts";
import { userInfo } from "../pure/user-info.ts";
import { Failure } from "../wire/failure.ts";

/** Fails `invalid` as `mailServer` does. */
export function checkMailServer(url: string): void {
  mailServer(url);
}

interface MailServer {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  requireTLS: boolean;
  ignoreTLS: boolean;
  auth?: { user: string; pass: string };
}

/**
 * Reads `smtp://user:password@host:587` (STARTTLS, which must succeed beyond this machine) or `smtps://…:465`. Fails
 * `invalid`; the text does not repeat the address, which holds a password.
 */
export function mailServer(text: string): MailServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === "") {
    throw new Failure(
      "invalid",
      "the address of the mail server is not smtp://USER:PASSWORD@HOST:PORT or smtps://…; in a password, write / as %2F, # as %23, ? as %3F",
    );
  }
  const secure = url.protocol === "smtps:";
  // The URL parser leaves hosts of these schemes as they are, escaped.
  const written = url.hostname.replace(/^\[|\]$/g, "");
  const host = written.includes("%") ? unescaped(written) : written;
  if (host === undefined) throw new Failure("invalid", "the host of the mail server is not a host name");
  const isLocal = host === "localhost" || host === "127.0.0.1" || host === "::1";
  const { user, password } = userInfo(url);
  const auth = user === "" ? {} : { auth: { user, pass: password } };
  const port = url.port === "" ? (secure ? 465 : 587) : Number(url.port);
  return { host, port, secure, requireTLS: !secure && !isLocal, ignoreTLS: !secure && isLocal, ...auth };
}

function unescaped(host: string): string | undefined {
  try {
    return asciiDomain(decodeURIComponent(host));
  } catch {
    return undefined;
  }
}
