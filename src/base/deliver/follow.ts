import { Failure } from "../wire/failure.ts";
import type { Fetch } from "../wire/outgoing.ts";
import { guardedHead, type GuardedHeadOptions } from "./guarded-fetch.ts";

interface FollowOptions extends GuardedHeadOptions {
  /** Origin that the operator has chosen: asked as it is, by `ask`. All that it leads to is guarded. */
  origin: string;
  ask: Fetch;
  headers: Record<string, string>;
}

const redirectsMax = 5;

/** GET that follows redirects, each to an address that is checked and pinned. With `manual` the first answer is the result. */
export function createFollow(options: FollowOptions) {
  const { origin, headers, ask } = options;
  return async (
    first: string,
    { signal, redirect }: { signal: AbortSignal; redirect?: "manual" },
  ): Promise<Response> => {
    let url = first;
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const response =
        new URL(url).origin === origin
          ? await ask(url, { headers, signal, redirect: "manual" })
          : await guardedHead(options, { method: "GET", url, headers }, signal);
      const location = response.headers.get("location");
      const isMoved = response.status >= 300 && response.status < 400 && location !== null;
      if (!isMoved || redirect === "manual") return response;
      await response.body?.cancel().catch(() => undefined);
      if (!URL.canParse(location, url)) throw new Failure("unavailable", "it redirects to what is not an address");
      url = new URL(location, url).href;
    }
    throw new Failure("unavailable", `it redirects more than ${redirectsMax} times`);
  };
}
