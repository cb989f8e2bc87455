import { Failure, type Place, placeWithin, problemsAt, problemText } from "../../../base/wire/failure.ts";
import { type ClosingField, lostClosings } from "../../api/kinds/ingress-plugin.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import type { Transaction } from "../../store/store.ts";
import { routedSpec } from "../state/ingress-plugin.ts";
import type { Context } from "../state/context.ts";

interface Wanted {
  incoming: readonly { key: ManifestKey & { kind: CoreKind }; spec: Spec; place: Place }[];
  /** What its caller said may be lost. */
  drop: readonly ClosingField[] | undefined;
}

/**
 * Refuses an ingress that goes to another plugin and loses what closes it on the way: its path to a plugin is open to
 * everybody from then on. Fails `conflict` with every such field.
 */
export function requireClosed(
  context: Pick<Context, "plugins" | "routing">,
  { manifests }: Pick<Transaction, "manifests">,
  { incoming, drop = [] }: Wanted,
): void {
  const problems = incoming.flatMap(({ key, spec, place }) => {
    const stands = key.kind === "ingress" ? manifests.get(key)?.spec : undefined;
    const { plugin } = routedSpec(context, key.kind, spec);
    if (stands === undefined || plugin === undefined || plugin === stands.plugin) return [];
    const lost = lostClosings(stands, spec).filter((field) => !drop.includes(field));
    const message = `closes the site, and is lost as the plugin "${String(plugin)}" takes it`;
    const found = lost.map((field) => ({ path: `spec.${field}`, message }));
    return problemsAt(placeWithin(place, formatKey(key)), found).map((problem) => ({ ...problem, lost }));
  });
  if (problems.length === 0) return;
  const fields = [...new Set(problems.flatMap(({ lost }) => lost))];
  const wayOut = `name what may be lost with drop=${fields.join(",")} (--drop of berth apply and berth ingress move)`;
  throw new Failure("conflict", [...problems.map(problemText), wayOut].join("\n"), {
    problems,
    fields: { drop: fields.join(",") },
  });
}
