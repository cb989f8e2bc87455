import type { Problem } from "../../../base/wire/failure.ts";
import type { ChannelTarget } from "../../api/alert-channels.ts";

/** Where a channel leads to, without what is secret of it: addresses of webhooks are passwords. */
export function targetText(target: ChannelTarget): string {
  switch (target.type) {
    case "mail":
      return target.to.join(", ");
    case "telegram":
      return `chat ${target.chat}`;
    case "ntfy":
      return `${hostOf(target.url)}/${shortened(pathOf(new URL(target.url)).pop() ?? "")}`;
    case "pagerduty":
      return `${hostOf(target.url ?? "https://events.pagerduty.com")}, key ${shortened(target.key)}`;
    default:
      return hostOf(target.url);
  }
}

export function pathOf(url: URL): string[] {
  return url.pathname.split("/").filter((part) => part !== "");
}

export function hostOf(text: string): string {
  return URL.canParse(text) ? new URL(text).host : "";
}

const shownMax = 3;

function shortened(secret: string): string {
  return secret.length <= shownMax * 2 ? "…" : `${secret.slice(0, shownMax)}…`;
}

/** What the schema cannot say of a target. */
export function targetProblems(target: ChannelTarget): Problem[] {
  if (target.type === "mail") {
    const wrong = target.to.filter((address) => !/^[^@\s,<>]+@[^@\s,<>]+$/.test(address));
    return wrong.map((address) => ({ path: "target.to", message: `${JSON.stringify(address)} is not a mail address` }));
  }
  const problems = target.url === undefined ? [] : urlProblems("target.url", target.url);
  if (problems.length > 0 || target.type !== "ntfy" || pathOf(new URL(target.url)).length > 0) return problems;
  return [{ path: "target.url", message: "has no topic; write it like https://ntfy.sh/TOPIC" }];
}

/** The address itself is not repeated: it may hold a token. */
export function urlProblems(path: string, text: string): Problem[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== "") return [];
  return [{ path, message: "is not an address of the form https://HOST/PATH" }];
}
