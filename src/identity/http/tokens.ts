import { Failure } from "../../base/wire/failure.ts";
import { redeemToken, verifyToken } from "../api/tokens.ts";
import { errorAnswer, jsonAnswer } from "./answers.ts";
import { mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

export function mountTokens(plane: IdentityPlane): void {
  const { tokens, hosted } = plane.identity;
  mountApi(plane, verifyToken, {
    key: "secret",
    answer({ caller, body: { token } }) {
      if (typeof token !== "string" || token === "") throw new Failure("invalid", "Missing token");
      const found = tokens.verify(caller.entry, token);
      if (found.valid) return jsonAnswer(200, found.resource);
      return found.error === "User not found" ? errorAnswer(404, found.error) : jsonAnswer(401, found);
    },
  });
  mountApi(plane, redeemToken, {
    key: "secret",
    async answer({ caller, body: { code } }) {
      if (typeof code !== "string" || code === "") throw new Failure("invalid", "Missing code");
      const token = await hosted.redeem(caller.entry, code);
      return token === undefined ? errorAnswer(401, "Invalid code") : jsonAnswer(200, { token });
    },
  });
}
