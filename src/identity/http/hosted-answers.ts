/** Headers of pages and redirects alike: nothing of a sign-in stays in a cache, or is sent to the next site. */
const privacy = {
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

const yearSeconds = 365 * 24 * 3_600;

/**
 * Tells browsers to come by TLS alone from now on (RFC 6797): a listener in between must not see a password because a
 * link said http. Only where the service itself is reached over https.
 */
export function overTlsOnly(response: Response, isSecure: boolean): Response {
  if (isSecure) response.headers.set("Strict-Transport-Security", `max-age=${yearSeconds}`);
  return response;
}

interface PageOptions {
  nonce: string;
  status?: number;
  /** Addresses of apps that forms of the page lead to. */
  formTargets?: readonly string[];
  /** https address of a picture. */
  image?: string;
  /** The page brings a script of ours, under its nonce. */
  script?: boolean;
  cookies?: readonly string[];
  retryAfterSeconds?: number | undefined;
}

export function pageAnswer(html: string, options: PageOptions): Response {
  const headers = new Headers({
    ...privacy,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy(options),
  });
  if (options.retryAfterSeconds !== undefined) headers.set("Retry-After", String(options.retryAfterSeconds));
  return withCookies(new Response(html, { status: options.status ?? 200, headers }), options.cookies);
}

/** 302 after a GET, 303 after a POST: the browser must not send a password on (RFC 9700 section 4.12). */
export function redirectAnswer(
  to: string,
  { status, cookies }: { status: 302 | 303; cookies?: readonly string[] },
): Response {
  return withCookies(new Response(null, { status, headers: { ...privacy, Location: to } }), cookies);
}

function withCookies(response: Response, cookies: readonly string[] = []): Response {
  for (const cookie of cookies) response.headers.append("Set-Cookie", cookie);
  return response;
}

function policy({ nonce, formTargets = [], image = "", script = false }: PageOptions): string {
  // Browsers hold every redirect after a form against this, also those that the app makes: where to is its own matter.
  const schemes = [...new Set(formTargets.flatMap(originOf).map((origin) => new URL(origin).protocol))];
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(script ? [`script-src 'nonce-${nonce}'`] : []),
    ...originOf(image).map((origin) => `img-src ${origin}`),
    `form-action ${["'self'", ...schemes].join(" ")}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function originOf(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { origin } = new URL(address);
  return /^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(origin) ? [origin] : [];
}
