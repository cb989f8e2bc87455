import { readParam } from "../../base/http/request.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import { getAppConfig, getScopeConfig, revealAppConfig, revealScopeConfig } from "../api/settings.ts";
import type { Bucket } from "../service/apps/settings.ts";
import { mount } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

type Params = Pick<PlaneCall<PlaneEndpoint>, "params">;
const ofScope = ({ params }: Params): Bucket => ({ scope: readParam(params, "scope") });
const ofApp = ({ params }: Params): Bucket => ({ scope: readParam(params, "scope"), name: readParam(params, "name") });

export function mountSettings(plane: ObservabilityPlane): void {
  const { settings } = plane.observability.apps;
  const readKeys = bodyReader(revealAppConfig);
  for (const [endpoint, bucketOf] of [
    [getScopeConfig, ofScope],
    [getAppConfig, ofApp],
  ] as const) {
    mount(plane, endpoint, (call) => settings.keys(call, bucketOf(call)));
  }
  for (const [endpoint, bucketOf] of [
    [revealScopeConfig, ofScope],
    [revealAppConfig, ofApp],
  ] as const) {
    mount(plane, endpoint, {
      answer: async (call) => ({ vars: await settings.reveal(call, bucketOf(call), readKeys(call.body).keys) }),
      headers: () => ({ "Cache-Control": "no-store" }),
    });
  }
}
