import { readParam } from "../../base/http/request.ts";
import { listPlanePats, revokePlanePat } from "../api/tokens.ts";
import { mountPlane } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** There is no way to make a token with a token: one that leaks cannot outlive its end. */
export function mountTokens(plane: ObservabilityPlane): void {
  const { tokens } = plane.observability;
  mountPlane(plane, listPlanePats, () => tokens.list({ all: false }));
  mountPlane(plane, revokePlanePat, ({ params }) => tokens.revoke(readParam(params, "id")));
}
