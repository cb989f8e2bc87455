/** What a browser sees in the end. */
export interface Page {
  url: string;
  status: number;
  html: string;
  headers: Headers;
}

/** A browser in process: cookies per host, redirects followed, forms sent. No JavaScript. */
export interface WebBrowser {
  /** Opens an address, and follows redirects until a page, or until the address of an app. */
  open(
    url: string,
    init?: { method?: string; form?: Record<string, string>; headers?: Record<string, string> },
  ): Promise<Page>;
  /** Fills the form of a page that goes to `action` and sends it. */
  submit(page: Page, action: string, values: Record<string, string>): Promise<Page>;
  /** `Cookie` header for a host. */
  cookies(host: string): string;
  forgetCookies(): void;
  /** Takes none from now on. */
  blockCookies(): void;
  /** Every `Set-Cookie` so far. */
  readonly setCookies: string[];
}

export interface WebBrowserOptions {
  /** Hosts that are answered by the service. */
  isService: (host: string) => boolean;
  service: (request: Request) => Promise<Response>;
  /** Hosts of apps: nothing is fetched there. */
  isApp: (host: string) => boolean;
  headers?: Record<string, string>;
}

const redirectsMax = 10;

export function webBrowser(options: WebBrowserOptions): WebBrowser {
  const jars = new Map<string, Map<string, string>>();
  const setCookies: string[] = [];
  let blocked = false;

  function keep(host: string, response: Response): void {
    const jar = jars.get(host) ?? new Map<string, string>();
    for (const cookie of response.headers.getSetCookie()) {
      setCookies.push(cookie);
      if (blocked) continue;
      const [pair = ""] = cookie.split(";");
      const at = pair.indexOf("=");
      if (/Max-Age=0/i.test(cookie)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    jars.set(host, jar);
  }

  const cookies = (host: string) => [...(jars.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");

  const browser: WebBrowser = {
    cookies,
    setCookies,
    forgetCookies: () => jars.clear(),
    blockCookies() {
      blocked = true;
      jars.clear();
    },
    async open(url, { method = "GET", form, headers = {} } = {}) {
      let at = new URL(url);
      let sent = { method, form };
      for (let hops = 0; hops < redirectsMax; hops++) {
        if (options.isApp(at.host)) return { url: at.href, status: 0, html: "", headers: new Headers() };
        const cookie = cookies(at.host);
        const request = new Request(at.href, {
          method: sent.method,
          redirect: "manual",
          headers: { ...options.headers, ...headers, ...(cookie === "" ? {} : { Cookie: cookie }) },
          ...(sent.form === undefined ? {} : { body: new URLSearchParams(sent.form) }),
        });
        const response = options.isService(at.host) ? await options.service(request) : await fetch(request);
        keep(at.host, response);
        const location = response.headers.get("location");
        if (location === null) {
          return { url: at.href, status: response.status, html: await response.text(), headers: response.headers };
        }
        at = new URL(location, at);
        if (response.status !== 307) sent = { method: "GET", form: undefined };
      }
      throw new Error(`too many redirects, the last to ${at.origin}${at.pathname}`);
    },
    submit(page, action, values) {
      const form = formsOf(page.html).find((one) => new URL(one.action, page.url).pathname.endsWith(action));
      if (form === undefined) throw new Error(`no form for ${action} on ${page.url}`);
      return browser.open(new URL(form.action, page.url).href, { method: "POST", form: { ...form.fields, ...values } });
    },
  };
  return browser;
}

function formsOf(html: string): { action: string; fields: Record<string, string> }[] {
  return [...html.matchAll(/<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/g)].map(
    ([, action = "", inner = ""]) => ({
      action: unescaped(action),
      fields: Object.fromEntries(
        [...inner.matchAll(/<input([^>]*)>/g)].map(([, attributes = ""]) => [
          attribute(attributes, "name"),
          attribute(attributes, "value"),
        ]),
      ),
    }),
  );
}

/** Links of a page by their text. */
export function linkOf(page: Page, text: string): string {
  for (const [, attributes = "", inner = ""] of page.html.matchAll(/<a([^>]*)>([\s\S]*?)<\/a>/g)) {
    if (inner.replace(/<[^>]*>/g, "").trim() === text) return new URL(attribute(attributes, "href"), page.url).href;
  }
  throw new Error(`no link "${text}" on ${page.url}`);
}

function attribute(text: string, name: string): string {
  return unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "");
}

function unescaped(text: string): string {
  const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}
