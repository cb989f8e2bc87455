import type { InstanceSettings } from "../../src/identity/api/settings.ts";
import type { ProviderOptions } from "../../src/identity/api/providers.ts";
import { identityLimits } from "../../src/config/config.ts";
import { decodePart, splitToken } from "../../src/identity/core/jwt.ts";
import type { Mail } from "../../src/identity/store/records.ts";
import { identityWorld, type IdentityWorld, type IdentityWorldOptions, type Tenant } from "./identity.ts";
import { clientId, clientSecret, type LoopbackProvider, startLoopbackProvider } from "./loopback-provider.ts";
import type { SignInLimits } from "../../src/identity/service/limits.ts";
import { type Page, webBrowser, type WebBrowser } from "./web-browser.ts";

export const baseUrl = "http://127.0.0.1:8688";
export const appUrl = "https://app.test/callback";

/** The identity service with providers on loopback, for going through sign-ins as a browser does. */
export interface SignInWorld extends IdentityWorld {
  provider: LoopbackProvider;
  /** An instance with all providers. */
  shop(settings?: InstanceSettings, host?: string): Promise<Tenant>;
  browser(headers?: Record<string, string>): WebBrowser;
  /** Address of a hosted page. */
  page(tenant: Tenant, path: string, query?: Record<string, string>): string;
  /** From start to end: what the app gets. */
  signIn(browser: WebBrowser, tenant: Tenant, provider: string, redirectUri?: string): Promise<Page>;
  mails(): Mail[];
  stop(): Promise<void>;
}

/** Quick where the real thing is slow on purpose. */
const fast: SignInLimits = {
  ...identityLimits.signIn,
  evenMs: 0,
  passwordMemoryKib: 1_024,
  passwordPasses: 1,
};

export async function signInWorld(
  options: IdentityWorldOptions = {},
  signIn: Partial<typeof fast> = {},
): Promise<SignInWorld> {
  const provider = await startLoopbackProvider();
  const world = identityWorld({ signIn: { ...fast, ...signIn } }, options);
  provider.clock = () => world.clock.now();
  return {
    ...world,
    provider,
    async shop(settings = {}, host) {
      const tenant = await world.tenant({ redirect_uris: [appUrl], title: "Shop", ...settings }, host);
      for (const name of ["google", "github", "twitter", "acme"]) await addProvider(world, tenant, { name, provider });
      return tenant;
    },
    browser: (headers = {}) =>
      webBrowser({
        // TLS ends before us: whatever browsers say, it is plain http that arrives.
        service: async (request) => {
          const { method, headers } = request;
          const body = method === "GET" ? {} : { body: await request.text() };
          return world.fetch(new Request(request.url.replace(/^https:/, "http:"), { method, headers, ...body }));
        },
        isService: (host) => host === new URL(options.baseUrl ?? baseUrl).host || host.endsWith(".shop.test"),
        isApp: (host) => host === "app.test",
        headers: { "User-Agent": "test browser", ...headers },
      }),
    page: (tenant, path, query = {}) =>
      `${options.baseUrl ?? baseUrl}/i/${tenant.id}${path}?${new URLSearchParams({ redirect_uri: appUrl, ...query })}`,
    signIn(browser, tenant, name, redirectUri = appUrl) {
      const query = new URLSearchParams({ provider: name, redirect_uri: redirectUri });
      return browser.open(`${options.baseUrl ?? baseUrl}/i/${tenant.id}/oauth/authorize?${query}`);
    },
    mails: () => world.context.store.mails.list({ limit: 100 }),
    async stop() {
      world.close();
      await provider.stop();
    },
  };
}

const endpoints: Record<string, (url: string) => ProviderOptions> = {
  google: (url) => ({
    authorize_url: `${url}/google/authorize`,
    token_url: `${url}/google/token`,
    userinfo_url: `${url}/google/userinfo`,
  }),
  github: (url) => ({
    authorize_url: `${url}/github/authorize`,
    token_url: `${url}/github/token`,
    userinfo_url: `${url}/github/user`,
    emails_url: `${url}/github/user/emails`,
  }),
  twitter: (url) => ({
    authorize_url: `${url}/twitter/authorize`,
    token_url: `${url}/twitter/token`,
    userinfo_url: `${url}/twitter/users/me`,
  }),
};

export function addProvider(
  { context }: IdentityWorld,
  tenant: Tenant,
  { name, provider, options = {} }: { name: string; provider: { url: string }; options?: ProviderOptions },
): Promise<void> {
  const known = endpoints[name];
  const instance = tenant.entry().instance.seq;
  const times = { createdAt: 1, updatedAt: 1 };
  const row = { instance, name, enabled: true, clientId, clientSecret, ...times };
  return context.store.write(({ providers }) =>
    providers.put(
      known === undefined
        ? { ...row, kind: "oidc", options: { issuer: `${provider.url}/oidc`, label: "Acme", ...options } }
        : { ...row, kind: name as "google", options: { ...known(provider.url), ...options } },
    ),
  );
}

/** Claims of the token that an app got, unchecked. */
export function claimsOf(page: Page): Record<string, unknown> {
  const token = tokenOf(page);
  const parts = splitToken(token);
  const claims = parts === undefined ? undefined : decodePart(parts.payload);
  if (claims === undefined)
    throw new Error(`no token in ${page.url}, status ${page.status}: ${page.html.slice(0, 400)}`);
  return claims;
}

export function tokenOf(page: Page): string {
  return new URL(page.url).searchParams.get("token") ?? "";
}

/** The link in a mail. */
export function linkIn(mail: Mail | undefined): string {
  return /https?:\/\/\S+/.exec(mail?.message.text ?? "")?.[0] ?? "";
}
