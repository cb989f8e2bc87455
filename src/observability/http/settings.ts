import { readParam } from "../../base/http/request.ts";
import { readFlag } from "../../base/wire/query.ts";
import { bodyReader } from "../../base/wire/read-body.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import {
  changeAppConfig,
  changeScopeConfig,
  getAppConfig,
  getScopeConfig,
  revealAppConfig,
  revealScopeConfig,
} from "../api/settings.ts";
import type { Bucket } from "../service/apps/settings.ts";
import { mount } from "../../base/http/mount.ts";
import type { PlaneCall } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

type Params = Pick<PlaneCall<PlaneEndpoint>, "params">;
const ofScope = ({ params }: Params): Bucket => ({ scope: readParam(params, "scope") });
const ofApp = ({ params }: Params): Bucket => ({ scope: readParam(params, "scope"), name: readParam(params, "name") });

export function mountSettings(plane: ObservabilityPlane): void {
  const { settings } = plane.observability.apps;
  const readPatch = bodyReader(changeAppConfig);
  const readKeys = bodyReader(revealAppConfig);
  for (const [endpoint, bucketOf] of [
    [getScopeConfig, ofScope],
    [getAppConfig, ofApp],
  ] as const) {
    mount(plane, endpoint, (call) => settings.keys(call.grant, bucketOf(call)));
  }
  for (const [endpoint, bucketOf] of [
    [changeScopeConfig, ofScope],
    [changeAppConfig, ofApp],
  ] as const) {
    mount(plane, endpoint, (call) => {
      const restart = readFlag(call.query.restart, true);
      return settings.change(call, bucketOf(call), { patch: readPatch(call.body), restart });
    });
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
