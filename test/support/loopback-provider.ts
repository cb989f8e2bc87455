import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, SignJWT } from "jose";

/** Whom the provider says that everybody is. */
export interface Person {
  uid: string;
  email: string;
  verified: boolean;
  name: string;
  picture: string;
  /** Google's hosted domain. */
  hd?: string;
}

/** How the provider misbehaves. `deny` is a person who says no. */
export type Mode =
  | "normal"
  | "deny"
  | "odd_error"
  | "hang_token"
  | "hang_profile"
  | "garbage_token"
  | "garbage_profile"
  | "error_200"
  | "huge"
  | "redirect_token"
  | "status_500"
  | "no_id_token"
  | "forged_id_token"
  | "foreign_issuer"
  | "foreign_audience"
  | "wrong_nonce"
  | "expired_id_token"
  | "other_subject";

/** A request that reached the provider. */
export interface Seen {
  path: string;
  query: Record<string, string>;
  form: Record<string, string>;
  headers: Headers;
}

export interface LoopbackProvider {
  /** `http://127.0.0.1:<port>` */
  url: string;
  person: Person;
  mode: Mode;
  /** Shows a page with links instead of consenting at once: for real browsers. */
  asks: boolean;
  /** What it says about how long its tokens are good, in seconds. */
  expiresIn: unknown;
  /** Epoch milliseconds of its tokens; the time of the machine where left out. */
  clock?: () => number;
  seen: Seen[];
  /** The last request to a path. */
  last(path: string): Seen;
  stop(): Promise<void>;
}

interface Grant {
  challenge: string | undefined;
  redirectUri: string;
  clientId: string;
  nonce: string | undefined;
}

export const clientId = "client-1";
export const clientSecret = "client secret:1";

/** Made once: it takes a tenth of a second of a processor, and no test changes them. */
let keys: Promise<Record<"pair" | "forger", GenerateKeyPairResult>> | undefined;

async function makeKeys() {
  return { pair: await generateKeyPair("RS256"), forger: await generateKeyPair("RS256") };
}

/** Google, GitHub, Twitter and an OpenID Connect issuer (`/oidc`) on loopback, as strict as the real ones. */
export async function startLoopbackProvider(): Promise<LoopbackProvider> {
  keys ??= makeKeys();
  const { pair, forger } = await keys;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  const grants = new Map<string, Grant>();
  const hanging = new AbortController();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => answer(request) });
  const url = `http://127.0.0.1:${server.port}`;
  const provider: LoopbackProvider = {
    url,
    person: {
      uid: "1001",
      email: "ana@example.com",
      verified: true,
      name: "Ana Silva",
      picture: "https://img.test/a.png",
    },
    mode: "normal",
    expiresIn: 3_599,
    asks: false,
    seen: [],
    last(path) {
      const found = provider.seen.findLast((one) => one.path === path);
      if (found === undefined) throw new Error(`nothing reached ${path}`);
      return found;
    },
    async stop() {
      hanging.abort();
      await server.stop(true);
    },
  };
  return provider;

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const form = request.method === "POST" ? Object.fromEntries(new URLSearchParams(await request.text())) : {};
    const seen: Seen = { path: pathname, query: Object.fromEntries(searchParams), form, headers: request.headers };
    provider.seen.push(seen);
    const [, kind = "", ...rest] = pathname.split("/");
    switch (rest.join("/")) {
      case "authorize":
        return authorize(seen, kind);
      case "consent":
        return consent(seen);
      case "token":
        return token(seen, kind);
      case "userinfo":
      case "user":
      case "users/me":
        return profile(seen, kind);
      case "user/emails":
        return Response.json(emails());
      case ".well-known/openid-configuration":
        return Response.json(discovery());
      case "jwks":
        return Response.json({ keys: [jwk] });
      default:
        return new Response("not found", { status: 404 });
    }
  }

  function discovery() {
    const base = `${url}/oidc`;
    return {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      userinfo_endpoint: `${base}/userinfo`,
      jwks_uri: `${base}/jwks`,
      id_token_signing_alg_values_supported: ["RS256"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  function authorize(seen: Seen, kind: string): Response {
    const wrong = requestProblem(seen.query, kind);
    if (wrong !== undefined) return new Response(wrong, { status: 400 });
    if (!provider.asks) return provider.mode === "deny" ? back(seen, "access_denied") : consent(seen);
    const link = (path: string, text: string) =>
      `<a id="${text}" href="/${kind}/${path}?${new URLSearchParams(seen.query)}">${text}</a>`;
    const deny = `<a id="deny" href="${target(seen, { error: "access_denied" })}">deny</a>`;
    const html = `<!doctype html><title>${kind}</title><h1>${kind}</h1>${link("consent", "allow")} ${deny}`;
    return new Response(html, { headers: { "Content-Type": "text/html" } });
  }

  function requestProblem(query: Record<string, string>, kind: string): string | undefined {
    if (query.response_type !== "code" || query.client_id !== clientId) return "bad client";
    if (!/^[0-9a-f]{64}$/.test(query.state ?? "")) return "bad state";
    if (query.code_challenge_method !== undefined && query.code_challenge_method !== "S256") return "bad method";
    return kind === "twitter" && query.code_challenge === undefined ? "twitter wants PKCE" : undefined;
  }

  function consent(seen: Seen): Response {
    if (provider.mode === "odd_error") return back(seen, "<script>alert(1)</script>");
    const code = crypto.randomUUID();
    grants.set(code, {
      challenge: seen.query.code_challenge,
      redirectUri: seen.query.redirect_uri ?? "",
      clientId: seen.query.client_id ?? "",
      nonce: seen.query.nonce,
    });
    return Response.redirect(target(seen, { code }), 302);
  }

  function back(seen: Seen, error: string): Response {
    return Response.redirect(target(seen, { error, error_description: "no" }), 302);
  }

  function target({ query, path }: Seen, fields: Record<string, string>): string {
    const issuer = provider.mode === "foreign_issuer" ? "https://evil.example" : `${url}/oidc`;
    const named: Record<string, string> = path.startsWith("/oidc/") ? { iss: issuer } : {};
    return `${query.redirect_uri}?${new URLSearchParams({ ...fields, state: query.state ?? "", ...named })}`;
  }

  async function token({ form, headers, path }: Seen, kind: string): Promise<Response> {
    const { mode } = provider;
    if (mode === "hang_token") return hang();
    if (mode === "garbage_token") return new Response("<html>not json", { status: 200 });
    if (mode === "huge") return new Response(`{"access_token":"${"x".repeat(5 * 1024 * 1024)}"}`);
    if (mode === "redirect_token") return Response.redirect(`${url}${path}?again`, 307);
    if (mode === "status_500") return new Response("oops", { status: 500 });
    const grant = grants.get(form.code ?? "");
    grants.delete(form.code ?? "");
    const problem = mode === "error_200" ? "bad_verification_code" : tokenProblem(grant, form, headers, kind);
    const refusal = kind === "github" ? 200 : 400;
    if (problem !== undefined || grant === undefined) return Response.json({ error: problem }, { status: refusal });
    const tokens = {
      access_token: `at-${encodeURIComponent(provider.person.uid)}`,
      token_type: "bearer",
      expires_in: provider.expiresIn,
    };
    if (kind !== "oidc" || mode === "no_id_token") return Response.json(tokens);
    return Response.json({ ...tokens, refresh_token: "rt-secret", id_token: await idToken(grant) });
  }

  function tokenProblem(
    grant: Grant | undefined,
    form: Record<string, string>,
    headers: Headers,
    kind: string,
  ): string | undefined {
    if (grant === undefined || form.grant_type !== "authorization_code") return "invalid_grant";
    if (form.redirect_uri !== grant.redirectUri || form.client_id !== grant.clientId) return "invalid_grant";
    const verifier = createHash("sha256")
      .update(form.code_verifier ?? "")
      .digest("base64url");
    if (grant.challenge !== undefined && verifier !== grant.challenge) return "invalid_grant";
    const pair = `${clientId}:client+secret%3A1`;
    const isBasic = headers.get("authorization") === `Basic ${Buffer.from(pair).toString("base64")}`;
    const wantsBasic = kind === "twitter" || kind === "oidc";
    return (wantsBasic ? isBasic : form.client_secret === clientSecret) ? undefined : "invalid_client";
  }

  function idToken({ nonce, clientId: audience }: Grant): Promise<string> {
    const { mode, person } = provider;
    const key = mode === "forged_id_token" ? forger.privateKey : pair.privateKey;
    const claims = { nonce: mode === "wrong_nonce" ? "other" : nonce, email: person.email };
    return new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "k1" })
      .setIssuer(`${url}/oidc`)
      .setSubject(mode === "other_subject" ? "somebody-else" : person.uid)
      .setAudience(mode === "foreign_audience" ? "other-client" : audience)
      .setIssuedAt(Math.floor(now() / 1_000))
      .setExpirationTime(Math.floor(now() / 1_000) + (mode === "expired_id_token" ? -3_600 : 3_600))
      .sign(key);
  }

  /** Tests of the service stand still in time; its tokens must be of the same time. */
  function now(): number {
    return provider.clock?.() ?? Date.now();
  }

  function emails() {
    const { email, verified } = provider.person;
    return [
      { email: "other@example.com", primary: false, verified: true },
      { email, primary: true, verified },
    ];
  }

  async function profile({ headers }: Seen, kind: string): Promise<Response> {
    const { mode, person } = provider;
    if (mode === "hang_profile") return hang();
    if (mode === "garbage_profile") return new Response("[1, 2");
    if (headers.get("authorization") !== `Bearer at-${encodeURIComponent(person.uid)}`)
      return new Response("{}", { status: 401 });
    if (kind === "github" && headers.get("user-agent") === null) return new Response("{}", { status: 403 });
    const { uid, email, verified, name, picture, hd } = person;
    if (kind === "github")
      return Response.json({ id: Number(uid), login: "ana", name, avatar_url: picture, email: null });
    if (kind === "twitter")
      return Response.json({ data: { id: uid, name, username: "ana", profile_image_url: picture } });
    return Response.json({
      sub: uid,
      email,
      email_verified: verified,
      name,
      picture,
      ...(hd === undefined ? {} : { hd }),
    });
  }

  function hang(): Promise<Response> {
    return new Promise((resolve) =>
      hanging.signal.addEventListener("abort", () => resolve(new Response(null, { status: 503 }))),
    );
  }
}
