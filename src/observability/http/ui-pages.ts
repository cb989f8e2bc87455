import { sha256Hex } from "../../base/pure/digest.ts";

/** A file of the web UI as it was bundled. */
export interface UiFile {
  /** `index.html`, or a name with the digest of the content in it. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

interface Served {
  type: string;
  etag: string;
  plain: Uint8Array<ArrayBuffer>;
  zipped: Uint8Array<ArrayBuffer>;
  /** The name changes with the content. */
  forEver: boolean;
}

const page = "index.html";
const folder = "/assets/";

/**
 * Answers what is neither API nor session route: the files of the web UI, and its page for every other address, because
 * the UI keeps its state in the address. The files are loaded at the first request.
 */
export function createUiPages(load: () => Promise<UiFile[]>): (request: Request) => Promise<Response> {
  let files: Promise<Map<string, Served>> | undefined;
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refusal(405, "the web UI answers GET and HEAD", { Allow: "GET, HEAD" });
    }
    files ??= serveAll(load);
    const { pathname } = new URL(request.url);
    const name = pathname.startsWith(folder) ? pathname.slice(folder.length) : page;
    const served = (await files).get(name);
    return served === undefined
      ? refusal(404, `no file ${pathname} in the web UI of this version`)
      : send(request, served);
  };
}

async function serveAll(load: () => Promise<UiFile[]>): Promise<Map<string, Served>> {
  const entries = (await load()).map(({ name, bytes }): [string, Served] => [
    name,
    {
      type: types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
      etag: `"${sha256Hex(bytes).slice(0, 32)}"`,
      plain: bytes,
      zipped: Bun.gzipSync(bytes, { level: 9 }),
      forEver: name !== page,
    },
  ]);
  return new Map(entries);
}

function send(request: Request, file: Served): Response {
  const headers = new Headers({
    ...guards,
    "Content-Type": file.type,
    "Cache-Control": file.forEver ? "public, max-age=31536000, immutable" : "no-cache",
    ETag: file.etag,
    Vary: "Accept-Encoding",
  });
  if (request.headers.get("if-none-match") === file.etag) return new Response(null, { status: 304, headers });
  const zips = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers.get("accept-encoding") ?? "");
  if (zips) headers.set("Content-Encoding", "gzip");
  return new Response(request.method === "HEAD" ? null : zips ? file.zipped : file.plain, { headers });
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ status: "error", error }, { status, headers: { ...guards, ...headers } });
}

const types: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Scripts and styles come from these files alone, and text never becomes markup: `trusted-types` closes those doors of the DOM. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const guards = {
  "Content-Security-Policy": policy,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
};
