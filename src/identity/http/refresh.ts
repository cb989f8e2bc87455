import { Failure } from "../../base/wire/failure.ts";
import { exchangeSession, refreshSession, revokeRefresh } from "../api/refresh.ts";
import { jsonAnswer } from "./answers.ts";
import { mountPreflight } from "./cors.ts";
import { type ApiCall, countFailure, mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

/** Called by pages of apps. */
export function mountRefresh(plane: IdentityPlane): void {
  const { refresh } = plane.identity;
  mountPreflight(plane, [exchangeSession, refreshSession, revokeRefresh]);
  mountApi(plane, exchangeSession, {
    key: "publishable",
    cors: true,
    failures: "exchange",
    answer: async ({ caller, body }) =>
      jsonAnswer(200, await refresh.exchange(caller.entry, field(body, "token", "Missing token"))),
  });
  mountApi(plane, refreshSession, {
    key: "publishable",
    cors: true,
    failures: "refresh",
    answer: async ({ caller, body }) =>
      jsonAnswer(200, await refresh.refresh(caller.entry, field(body, "refresh_token", "Missing refresh token"))),
  });
  mountApi(plane, revokeRefresh, {
    key: "publishable",
    cors: true,
    failures: "refresh",
    async answer({ caller, body, request }) {
      const isOurs = await refresh.revoke(caller.entry, field(body, "refresh_token", "Missing refresh token"));
      if (!isOurs) countFailure(plane, "refresh", request);
      return new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
    },
  });
}

function field(body: ApiCall["body"], name: string, missing: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw new Failure("invalid", missing);
}
