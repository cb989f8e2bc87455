import { expect, test } from "bun:test";
import type { IngressManifest } from "../../../../src/ingress/core/ingress-spec.ts";
import { createWakes } from "../../../../src/ingress/service/wakes.ts";
import { ingress } from "../../../support/ingress-input.ts";
import { runningWith } from "../../../support/ingress-running.ts";
import { site } from "../../../support/ingress-table.ts";

/** What a line of the proxy asks for, as text; `p1` is the backend of the one ingress. */
function asked(line: string, manifest: IngressManifest, kinds: ("deployment" | "statefulset")[] = ["deployment"]) {
  const seen: string[] = [];
  const take = createWakes({
    running: () => runningWith([site("web", [])]),
    ingresses: () => [manifest],
    serviceKinds: () => kinds,
    requested: ({ kind, scope, name }, host) => void seen.push(`${kind}/${scope}/${name} by ${host}`),
  });
  return [take(line), ...seen];
}

test.each<[string, string, { service?: string }, (string | boolean)[]]>([
  ["the deployment of its name", "wake p1 shop.test", {}, [true, "deployment/shop/web by shop.test"]],
  ["the service that is named", "wake p1 a.test", { service: "api" }, [true, "deployment/shop/api by a.test"]],
  ["a part of the server itself", "wake p1 a.test", { service: "@identity" }, [true]],
  ["a backend that is gone", "wake p9 a.test", {}, [true]],
  ["an access line", "p1 s1 200 1 2", {}, [false]],
])("%s", (_, line, spec, outcome) => {
  const kinds: "deployment"[] = spec.service === "@identity" ? [] : ["deployment"];
  expect(asked(line, ingress("web", { host: "shop.test", ...spec }), kinds)).toEqual(outcome);
});
