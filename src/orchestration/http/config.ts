import { requireBucket } from "../../access/apps.ts";
import { getConfig, setConfig, unsetConfig } from "../api/config.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountConfig(plane: Plane, controller: Controller): void {
  mount(plane, getConfig, ({ query: { scope, name, key, merge }, by }) => {
    requireBucket(by, { scope, name });
    return controller.getConfig({ scope, name, key, merge: readFlag(merge, true) });
  });
  mount(plane, setConfig, ({ query: { scope, name, empty, restart, dry_run }, body, actor, by }) => {
    requireBucket(by, { scope, name });
    return controller.setConfig({ scope, name }, body, {
      restart: readFlag(restart, true),
      dryRun: readFlag(dry_run, false),
      ...(empty !== undefined && { empty: empty.split(",") }),
      actor,
      by,
    });
  });
  mount(plane, unsetConfig, ({ query: { scope, name, key, restart, dry_run }, actor, by }) => {
    requireBucket(by, { scope, name });
    const options = { restart: readFlag(restart, true), dryRun: readFlag(dry_run, false), actor, by };
    return controller.unsetConfig({ scope, name, key }, options);
  });
}
