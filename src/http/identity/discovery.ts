import { errorAnswer, jsonAnswer } from "./answers.ts";
import { instanceOf, instancePaths } from "./instance.ts";
import { guarded, type IdentityPlane } from "./plane.ts";

export function mountDiscovery(plane: IdentityPlane): void {
  const { discovery } = plane.identity;
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
