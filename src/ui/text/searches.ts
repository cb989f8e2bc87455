interface Search {
  q?: string;
  app?: string;
  level?: string;
  from?: string;
}

/** `shop/web, timeout, error and above, last 1h`. */
export function searchText({ q = "", app = "", level = "", from = "" }: Search): string {
  const parts = [
    app === "" ? "every app" : app,
    q,
    level === "" ? "" : `${level} and above`,
    from === "" ? "live" : `last ${from}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The command that saves it. What only the web UI can write is left to it. */
export function searchCommand({ q = "", app = "", level = "", from = "" }: Search): string {
  const parts = [
    "berth searches save NAME",
    app,
    q === "" ? "" : `--grep ${quoted(q)}`,
    level === "" ? "" : `--level ${level}`,
    from === "" ? "" : `--since ${from}`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
