import { own } from "../../../base/pure/fields.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { BuildRequest } from "../../api/builds.ts";
import type { Context } from "../state/context.ts";

/** By the id that a step mounts them with. Fails `conflict`/`BuildSecretMissing` for a key that the config does not have. */
export function secretsOf({ store }: Context, request: BuildRequest): Record<string, string> {
  const { scope, name, secrets = {}, config_secrets: keys = [] } = request;
  const config = store.config.merged(scope, name);
  const stored: Record<string, string> = {};
  for (const key of keys) {
    if (Object.hasOwn(secrets, key)) continue;
    const value = own(config, key);
    if (value === undefined) throw missing(`${scope}/${name}`, key);
    stored[key] = value;
  }
  return { ...stored, ...secrets };
}

function missing(app: string, key: string): Failure {
  const message = `the build of ${app} needs the secret ${key}, which is not in its config: berth config set ${app} ${key}=…`;
  return new Failure("conflict", message, { reason: "BuildSecretMissing" });
}
