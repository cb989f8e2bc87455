import { Failure } from "../../base/wire/failure.ts";
import { exchangeSession, refreshSession, revokeRefresh } from "../api/refresh.ts";
import { jsonAnswer } from "./answers.ts";
import { mountPreflight } from "./cors.ts";
import { type ApiCall, mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

/** Called by pages of apps. */
export function mountRefresh(plane: IdentityPlane): void {
  const { refresh } = plane.identity;
  mountPreflight(plane, [exchangeSession, refreshSession, revokeRefresh]);
  mountApi(plane, exchangeSession, {
    key: "publishable",
    cors: true,
    rate: "exchange",
    answer: async ({ caller, body }) =>
      jsonAnswer(200, await refresh.exchange(caller.entry, field(body, "token", "Missing token"))),
  });
  mountApi(plane, refreshSession, {
    key: "publishable",
    cors: true,
    rate: "refresh",
    answer: async ({ caller, body }) =>
      jsonAnswer(200, await refresh.refresh(caller.entry, field(body, "refresh_token", "Missing refresh token"))),
  });
  mountApi(plane, revokeRefresh, {
    key: "publishable",
    cors: true,
    rate: "refresh",
    async answer({ caller, body }) {
      await refresh.revoke(caller.entry, field(body, "refresh_token", "Missing refresh token"));
      return new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
    },
  });
}

function field(body: ApiCall["body"], name: string, missing: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw new Failure("invalid", missing);
}
