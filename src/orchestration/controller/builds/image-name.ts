import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { appId } from "../../core/naming.ts";
import { conflictText } from "../../core/reservations.ts";
import { isContainerKind } from "../state/target.ts";
import type { Context } from "../state/context.ts";

/**
 * Refuses a build whose image would be named like those of another app: `a/b-c` and `a-b/c` are both `a-b-c`, and an app
 * without an image runs on the one that has its name. Fails `conflict`.
 */
export function requireOwnImageName({ store }: Context, { scope, name }: { scope: string; name: string }): void {
  const id = appId(scope, name);
  const holder = store.manifests
    .heads()
    .find(
      (head) =>
        isContainerKind(head.kind) &&
        appId(head.scope, head.name) === id &&
        (head.scope !== scope || head.name !== name),
    );
  if (holder !== undefined) throw new Failure("conflict", conflictText(`app:${id}`, keyOf(holder)));
}
