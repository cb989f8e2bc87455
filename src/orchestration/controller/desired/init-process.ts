import { startsInit } from "../../core/init-process.ts";
import type { ContainerSpec, ContainerTemplate } from "../../core/workload.ts";
import type { Engine } from "../../engine/engine.ts";

/** The setting for an engine without the program. */
export const initMissing =
  "Docker has no docker-init on this server, so processes that end without a parent stay until the container is restarted; install it (in Debian it comes with docker.io)";

/** The message for an operator who wrote `init: true` there. */
export const initUnstartable =
  "Docker has no docker-init on this server, so the container cannot start; install it (in Debian it comes with docker.io), or write init: false";

/**
 * The container with an init as process 1, where its probes make that useful and its image starts none of its own. An engine
 * that has no such program still starts the container: `missing` then says what is lacking.
 */
export async function withInit(
  { engine }: { engine: Pick<Engine, "inspectImage" | "info"> },
  spec: ContainerSpec,
  { initUnlessOwn }: Pick<ContainerTemplate, "initUnlessOwn">,
): Promise<{ spec: ContainerSpec; missing?: string }> {
  // Process 1 is then the machine's.
  if (!initUnlessOwn || spec.options.pidMode === "host") return { spec };
  const image = await engine.inspectImage(spec.image);
  // As the engine does it: with an entrypoint of the spec, the command of the image is not used.
  const written = spec.options.entrypoint;
  const command = spec.command ?? (written === undefined ? image?.command : undefined) ?? [];
  if (image === undefined || startsInit([...(written ?? image.entrypoint), ...command])) return { spec };
  if (!(await engine.info()).hasInit) return { spec, missing: initMissing };
  return { spec: { ...spec, options: { ...spec.options, init: true } } };
}
