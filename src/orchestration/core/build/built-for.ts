import { appId, type Naming } from "../naming.ts";

/** Labels of an image that the server builds, which say for what. */
export function buildLabels(
  { prefix }: Pick<Naming, "prefix">,
  { scope, name, id }: { scope: string; name: string; id: string },
): Record<string, string> {
  return { [`${prefix}.scope`]: scope, [`${prefix}.name`]: name, [`${prefix}.build`]: id };
}

/**
 * The other app that an image was built for, where its names read the same: those of `a/b-c` and `a-b/c` do. What was made
 * elsewhere is anyone's, also on top of an image of another app, whose labels it has.
 */
export function builtForOther(
  { prefix }: Pick<Naming, "prefix">,
  labels: Readonly<Record<string, string>>,
  { scope, name }: { scope: string; name: string },
): string | undefined {
  const [ofScope, ofName] = [labels[`${prefix}.scope`], labels[`${prefix}.name`]];
  if (ofScope === undefined || ofName === undefined || (ofScope === scope && ofName === name)) return undefined;
  return appId(ofScope, ofName) === appId(scope, name) ? `${ofScope}/${ofName}` : undefined;
}
