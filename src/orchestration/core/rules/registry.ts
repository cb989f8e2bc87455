import type { RegistrySpec } from "../../api/kinds/registry.ts";
import { registryHost } from "../image-reference.ts";
import type { RuleContext } from "./rule.ts";

export function registryRules(spec: RegistrySpec, { report }: RuleContext): void {
  if (registryHost(spec.url) === undefined) {
    report("spec.url", 'is not a registry address; write "registry.example.com" or "host:5000"');
  }
  if (spec.token !== undefined && spec.password !== undefined) {
    report("spec.password", "is another name of token; keep one of the two");
  }
  const secret = spec.token ?? spec.password;
  if (spec.helper !== undefined) {
    const login = spec.username !== undefined || secret !== undefined;
    if (login) report("spec.helper", "excludes username and token; keep one of the two");
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(spec.helper)) report("spec.helper", `"${spec.helper}" is not a helper name`);
    return;
  }
  if (!spec.username) report("spec.username", "is required; or write helper");
  if (!secret) report("spec.token", "is required; or write helper");
}
