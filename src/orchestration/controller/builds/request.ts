import { Failure } from "../../../base/wire/failure.ts";
import { pathProblem } from "../../../base/pure/source-tree.ts";
import { parseCpu, parseMemory } from "../../../base/pure/quantity.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { BuildRequest } from "../../api/builds.ts";
import { nameOk, scopeOk } from "../../core/identity.ts";

const readBody = schemaReader(BuildRequest, 50);

/** The body of POST /builds. Fails `invalid` with the path of each fault. */
export function readBuildRequest(given: unknown): BuildRequest {
  const body = readBody(given);
  const { scope, name, context, dockerfile } = body;
  if (!scopeOk(scope)) throw new Failure("invalid", `scope: "${scope}" is not a scope`);
  if (!nameOk(name)) throw new Failure("invalid", `name: "${name}" is not a name`);
  if (!/^[0-9a-f]{64}$/.test(context)) throw new Failure("invalid", "context: expected a digest, 64 hex digits");
  const problem = dockerfile === undefined ? undefined : pathProblem(dockerfile);
  if (problem !== undefined) throw new Failure("invalid", `dockerfile: "${dockerfile}" ${problem}`);
  if (body.memory !== undefined && parseMemory(body.memory) === undefined)
    throw new Failure("invalid", `memory: "${body.memory}" is not a size; write 512Mi or 2Gi`);
  if (body.cpu !== undefined && parseCpu(body.cpu) === undefined)
    throw new Failure("invalid", `cpu: "${body.cpu}" is not a number of CPUs; write 0.5 or 2`);
  return body;
}
