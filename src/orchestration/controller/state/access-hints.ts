import { accessHint, canOwn, hasRefusal, refusedMount } from "../../core/access-hint.ts";
import type { Naming } from "../../core/naming.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { Pod } from "./pod.ts";
import { specOf } from "./pod-spec.ts";

/**
 * Why a mount refuses the program that wrote these lines, and what to do about it: from the mounts, the user of the
 * container and the owner of the folder, as the engine has them now. Undefined where no line says so, or the engine
 * cannot tell why.
 */
export async function hintOf(
  parts: { engine: Engine; store: Store; names: Naming },
  pod: Pod,
  lines: readonly string[],
): Promise<string | undefined> {
  if (!hasRefusal(lines)) return undefined;
  const { engine, store, names } = parts;
  const container = await engine.inspect(pod);
  const refused = container && refusedMount(lines, container.mounts);
  if (refused === undefined) return undefined;
  const { destination } = refused.mount;
  const access = refused.refusal === "denied" ? await engine.folderAccess(pod, destination) : undefined;
  const { scope, name } = pod.key;
  const spec = specOf({ store }, pod);
  const isOwnable =
    spec !== undefined && access !== undefined && canOwn(destination, access.user, { scope, pod: spec, names });
  const ref = pod.ordinal === undefined ? `${scope}/${name}` : `${scope}/${name}.${pod.ordinal}`;
  return accessHint({ ...refused, access, ref, canOwn: isOwnable });
}
