import { sha256Bytes } from "../../base/pure/digest.ts";

/** The page without a script that a browser gets which was not signed in. `lines` are plain text. */
export function problemPage(status: number, lines: readonly string[], cookies: readonly string[] = []): Response {
  const [first = "", ...rest] = lines;
  const text = rest.map((line) => (isCommand(line) ? `<pre>${escaped(line)}</pre>` : `<p>${escaped(line)}</p>`));
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not signed in</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Not signed in</h1>
<p role="alert">${escaped(first)}</p>
${text.join("\n")}
<p><a href="/">Back to the sign-in page</a></p>
</main>
</body>
</html>
`;
  const headers = new Headers({
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  });
  for (const line of cookies) headers.append("Set-Cookie", line);
  return new Response(body, { status, headers });
}

const style =
  "body{margin:0;font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;min-height:100dvh}" +
  "main{max-width:34rem;padding:1.5rem}h1{font-size:1.25rem}a{color:inherit}" +
  "pre{padding:.75rem;border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere}";

const styleHash = Buffer.from(sha256Bytes([Buffer.from(style)])).toString("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

function isCommand(line: string): boolean {
  return line.startsWith("berth ");
}

function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replaceAll(/[&<>"]/g, (letter) => names[letter] ?? "");
}
