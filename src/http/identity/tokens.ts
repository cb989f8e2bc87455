import { Failure } from "../../api/failure.ts";
import { verifyToken } from "../../api/identity/tokens.ts";
import { errorAnswer, jsonAnswer } from "./answers.ts";
import { mountApi } from "./mount.ts";
import type { IdentityPlane } from "./plane.ts";

export function mountTokens(plane: IdentityPlane): void {
  const { tokens } = plane.identity;
  mountApi(plane, verifyToken, {
    key: "secret",
    answer({ caller, body: { token } }) {
      if (typeof token !== "string" || token === "") throw new Failure("invalid", "Missing token");
      const found = tokens.verify(caller.entry, token);
      if (found.valid) return jsonAnswer(200, found.resource);
      return found.error === "User not found" ? errorAnswer(404, found.error) : jsonAnswer(401, found);
    },
  });
}
