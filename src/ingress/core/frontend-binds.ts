import { listenAddress } from "./quote.ts";
import { type Lines, networkRule } from "./rules.ts";
import type { Listen } from "./table.ts";

/** `[::]` takes IPv4 as well, unless that has a line of its own. */
export function bindAddress(address: string, all: readonly string[]): string {
  const text = listenAddress(address, "address to listen on");
  if (!text.startsWith("[::]:")) return text;
  const port = text.slice("[::]:".length);
  const hasOwnIPv4 = all.some((other) => listenAddress(other, "address to listen on") === `0.0.0.0:${port}`);
  return `${text} ${hasOwnIPv4 ? "v6only" : "v4v6"}`;
}

export function proxyProtocolRules(listen: Listen): Lines {
  if (listen.proxyProtocolFrom.length === 0) return [];
  return [
    ...networkRule("sends_proxy_header", listen.proxyProtocolFrom),
    "tcp-request connection expect-proxy layer4 if sends_proxy_header",
  ];
}
