/** No status that HAProxy itself answers with: a rule names its page. */
export const tooManyHeaders = "431";

/** What visitors see when the proxy answers itself: plain and kind, with nothing about the inside. */
const texts: Record<string, [title: string, text: string]> = {
  "400": ["Not understood", "The browser sent a request that this site does not understand."],
  "403": ["Not allowed", "You do not have access to this page."],
  "404": ["Page not found", "There is nothing at this address. Check it for typing errors."],
  "405": ["Not possible", "This site does not take requests of this kind."],
  "408": ["Too slow", "The request did not arrive in time. Try again in a moment."],
  "413": ["Too large", "What you sent is larger than this site accepts."],
  "429": ["Too many requests", "You sent many requests in a short time. Wait a moment, then try again."],
  [tooManyHeaders]: [
    "Too many headers",
    "The browser sent more headers than this site takes. Deleting its cookies may help.",
  ],
  "500": ["Something went wrong", "The site cannot answer this request. Try again in a moment."],
  "502": ["Something went wrong", "The site gave no proper answer. Try again in a moment."],
  "503": ["Not available right now", "The site cannot answer at the moment. Try again in a moment."],
  "504": ["This takes too long", "The site did not answer in time. Try again in a moment."],
  maintenance: ["Back soon", "The site is under maintenance. Thank you for your patience."],
};

/** Name of the page → HTML. The proxy fills in the id of the request: `%[…]` is an expression of it. */
export function builtInPages(): [name: string, html: string][] {
  return Object.entries(texts).map(([name, [title, text]]) => [name, page(title, text)]);
}

function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 20vh auto; max-width: 30rem; padding: 0 1.5rem; color: #222; background: #fff }
small { color: #666 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #111 } small { color: #999 } }
</style>
<h1>${title}</h1>
<p>${text}</p>
<p><small>Reference: %[unique-id]</small></p>
</html>
`;
}
