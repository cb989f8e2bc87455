import { sees } from "../../access/apps.ts";
import { apply, deleteManifest, listManifests } from "../api/apply.ts";
import { Failure } from "../../base/wire/failure.ts";
import { closingFields, readClosings } from "../api/kinds/ingress-plugin.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountApply(plane: Plane, controller: Controller): void {
  mount(plane, apply, ({ body, query, actor, by, left, keepOpen }) => {
    keepOpen();
    return controller.apply(body, {
      dryRun: readFlag(query.dry_run, false),
      prune: readFlag(query.prune, false),
      force: readFlag(query.force, false),
      ...(readFlag(query.take_over, false) ? { takeOver: true } : {}),
      ...(readFlag(query.replace_plugin, false) ? { replacePlugin: true } : {}),
      ...(query.drop ? { drop: readDrop(query.drop) } : {}),
      ...(readFlag(query.atomic, false) ? { atomic: true } : {}),
      ...(readFlag(query.unbuilt, false) ? { unbuilt: true } : {}),
      actor,
      by,
      message: query.message,
      ...(readFlag(query.no_backup, false) ? { noBackup: true } : {}),
      left,
    });
  });
  mount(plane, listManifests, ({ query: { blocks, status, ...filter }, by }) =>
    controller
      .listManifests(filter, { blocks: readFlag(blocks, false), status: readFlag(status, false) })
      .filter(({ scope, name }) => sees(by, { scope, name })),
  );
  mount(plane, deleteManifest, ({ query: { prune, keep_children, ...target }, actor }) =>
    controller.deleteManifest(target, {
      prune: readFlag(prune, false),
      ...(readFlag(keep_children, false) ? { keepChildren: true } : {}),
      actor,
    }),
  );
}

/** Fails `invalid` for a word that is not a closing field. */
function readDrop(text: string) {
  const { fields, unknown } = readClosings(text);
  if (unknown === undefined) return fields;
  throw new Failure("invalid", `query drop: "${unknown.slice(0, 80)}" is not one of ${closingFields.join(", ")}`);
}
