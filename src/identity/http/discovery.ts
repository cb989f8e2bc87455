import { errorAnswer, jsonAnswer } from "./answers.ts";
import { instanceOf, instancePaths } from "./instance.ts";
import { guarded, type IdentityPlane } from "./plane.ts";

/** Sets of keys may be remembered for as long as it takes to make a new one known. */
const jwksHeaders = { "Cache-Control": "public, max-age=600" };

export function mountDiscovery(plane: IdentityPlane): void {
  const { discovery, signingPairs } = plane.identity;
  for (const path of instancePaths("/.well-known/jwks.json")) {
    plane.app.get(path, ({ request, params }) =>
      guarded(plane, () => {
        const entry = instanceOf(plane, request, params);
        if (entry === undefined) return errorAnswer(404, "Instance not found");
        return jsonAnswer(200, signingPairs.jwks(entry), jwksHeaders);
      }),
    );
  }
  for (const path of instancePaths("/.well-known/openid-configuration")) {
    plane.app.get(path, ({ request, params }) =>
      guarded(plane, () => {
        const entry = instanceOf(plane, request, params);
        if (entry === undefined) return errorAnswer(404, "Instance not found");
        return jsonAnswer(200, discovery.configuration(entry));
      }),
    );
  }
}
